"""Programs that are not in Python live on simulation time by a preloaded library of a few pages."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

import airloom as al
from airloom.loom.loom import LoomError
from airloom.scenario import load

SOURCE = Path(__file__).parents[2] / "examples/loom/simulation_time.c"
GCC = ("gcc", "-O2", "-Wall", "-Wextra", "-Werror")
SCENARIO = """
name: preloaded
duration: 3
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
members:
  logic: {command: COMMAND, rate: 50, timeout: 5}
"""
PROGRAM = """
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
static void *nothing(void *x) { return x; }

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    struct timeval day;
    pthread_t thread;
    int ends[2];
    (void)!pipe(ends);
    CODE
    gettimeofday(&day, NULL);
    printf("%g s, %ld, %ld.%06ld", now(), (long)time(NULL), (long)day.tv_sec, (long)day.tv_usec);
    (void)thread, (void)nothing;
    return 0;
}
"""
WAYS = {
    "sleep": ("sleep(1);", 1),
    "usleep": ("usleep(500000);", 0.5),
    "between turns": ("usleep(501000);", 0.52),
    "nanosleep": ("nanosleep(&(struct timespec){1, 500000000}, NULL);", 1.5),
    "until": ("clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &(struct timespec){1767225602, 0}, NULL);", 2),
    "poll": ("if (poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 1000)) exit(1);", 1),
    "poll that finds": (
        '(void)!write(ends[1], "x", 1); if (poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 1000) != 1) exit(1);', 0
    ),
    "select": (
        "fd_set s; FD_ZERO(&s); FD_SET(ends[0], &s); if (select(9, &s, 0, 0, &(struct timeval){1, 0})) exit(1);", 1
    ),
    "epoll": ("struct epoll_event e; if (epoll_wait(epoll_create1(0), &e, 1, 1000)) exit(1);", 1),
    "busy waiting": ("while (now() < 1);", 1),
    "a child": ("int code; if (!fork()) { usleep(200000); _exit(now() < 1); } wait(&code); if (code) exit(1);", 0),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    subprocess.run([*GCC, "-shared", "-fPIC", "-o", tmp_path / "simulation_time.so", SOURCE], check=True)
    return tmp_path


def compiled(folder, code):
    (folder / "program.c").write_text(PROGRAM.replace("CODE", code))
    subprocess.run([*GCC, "-o", folder / "program", folder / "program.c"], check=True)


def ran(folder, *command, radio=""):
    """What it printed."""
    preloaded = ["env", "LD_PRELOAD=./simulation_time.so", *command]
    (folder / "preloaded.yaml").write_text(SCENARIO.replace("COMMAND", json.dumps(preloaded)) + radio)
    with al.Simulation(load(folder / "preloaded.yaml")) as sim:
        sim.member_logs = folder
        sim.run()
        assert sim.time == 3
    return (folder / "member-logic.txt").read_text()


@pytest.mark.parametrize("way", WAYS)
def test_waits_are_on_simulation_time(folder, way):
    code, expected = WAYS[way]
    compiled(folder, code)
    unix = f"{1767225600 + expected:.6f}"
    assert ran(folder, "./program") == f"{expected:g} s, {unix.split('.')[0]}, {unix}"


def test_programs_that_nobody_compiled_for_it(folder):
    assert ran(folder, "date", "-u", "+%Y-%m-%d %T.%N") == "2026-01-01 00:00:00.000000000\n"
    assert ran(folder, "sleep", "1") == ""
    script = "$| = 1; for (1..5) { print time - 1767225600, ' '; sleep 1 }"
    assert ran(folder, "perl", "-e", script) == "0 1 2 3 ", "and it ends with the run, after 3 s"


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("sleep(1); exit(3);", "is gone"),
        ("pthread_create(&thread, NULL, nothing, NULL);", "is gone.*a program with threads cannot follow"),
    ],
)
def test_faults_are_told(folder, code, complaint):
    compiled(folder, code)
    with pytest.raises(LoomError, match=f"(?s)member 'logic' {complaint}"):
        ran(folder, "./program")


SOCKETS = r"""
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(5000)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(5000)};
    struct iovec some = {"hello", 5};
    struct mmsghdr message = {.msg_hdr = {&four, sizeof four, &some, 1, NULL, 0, 0}};
    const char *fours[] = {"10.73.0.2", "10.74.0.9", "10.73.255.255", "255.255.255.255", "239.7.7.7"};
    const char *sixes[] = {"ff02::1", "::ffff:10.73.0.2"};
    int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
    int udp6 = socket(AF_INET6, SOCK_DGRAM, 0);
    for (int k = 0; k < 5; k++) {
        inet_pton(AF_INET, fours[k], &four.sin_addr);
        if (sendto(udp, "hello", 5, 0, (void *)&four, sizeof four) != -1 || errno != ENETUNREACH) exit(10 + k);
        if (sendmsg(udp, &message.msg_hdr, 0) != -1 || errno != ENETUNREACH) exit(20 + k);
        if (sendmmsg(udp, &message, 1, 0) != -1 || errno != ENETUNREACH) exit(30 + k);
        if (connect(udp, (void *)&four, sizeof four) != -1 || errno != ENETUNREACH) exit(40 + k);
        if (connect(tcp, (void *)&four, sizeof four) != -1 || errno != ENETUNREACH) exit(50 + k);
    }
    for (int k = 0; k < 2 && udp6 >= 0; k++) {
        inet_pton(AF_INET6, sixes[k], &six.sin6_addr);
        if (sendto(udp6, "hello", 5, 0, (void *)&six, sizeof six) != -1 || errno != ENETUNREACH) exit(60 + k);
    }
    struct ip_mreq group = {four.sin_addr, {INADDR_ANY}};
    if (setsockopt(udp, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group) != -1 || errno != ENODEV) exit(70);
    int on = 1;
    if (setsockopt(udp, SOL_SOCKET, SO_BROADCAST, &on, sizeof on)) exit(71);
"""
OWN_MACHINE = r"""
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof here;
    char heard[9] = "", pair[9] = "";
    int one = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0), both[2];
    if (bind(one, (void *)&here, size) || getsockname(one, (void *)&here, &size)) exit(80);
    if (sendto(other, "near", 4, 0, (void *)&here, size) != 4 || recv(one, heard, 8, 0) != 4) exit(81);
    if (connect(other, (void *)&here, size) || send(other, "by", 2, 0) != 2) exit(82);
    if (recv(one, heard + 4, 4, 0) != 2) exit(82);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, both) || send(both[0], "unix", 4, 0) != 4) exit(83);
    if (recv(both[1], pair, 8, 0) != 4) exit(84);
    printf("%s %s ", heard, pair);
"""


def test_sockets_get_neither_into_the_networks_of_the_radio_nor_past_it(folder):
    compiled(folder, SOCKETS + OWN_MACHINE)
    said = ran(folder, "./program", radio="radio: {bands: {long: {vehicles: drone}}}")
    assert said == (
        "simulation_time: sockets of this program cannot use the simulated radio, and what is of its networks or for "
        "all does not go by the machine: let the program join the loom itself and send letters, as examples/loom/"
        "radio.c does\nnearby unix 0 s, 1767225600, 1767225600.000000"
    )


def test_without_a_radio_sockets_are_as_ever(folder):
    join = 'struct ip_mreq group = {{inet_addr("239.7.7.7")}, {htonl(INADDR_LOOPBACK)}};'
    join += "int udp = socket(AF_INET, SOCK_DGRAM, 0);"
    join += "if (setsockopt(udp, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group)) exit(90);"
    compiled(folder, join + OWN_MACHINE)
    assert ran(folder, "./program") == "nearby unix 0 s, 1767225600, 1767225600.000000"


def test_without_a_loom_all_is_as_ever(folder):
    compiled(folder, "usleep(100000);")
    began = int(time.time())
    said = subprocess.run(
        ["./program"],
        cwd=folder,
        env={"LD_PRELOAD": "./simulation_time.so"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert began <= int(said.split(", ")[1]) <= time.time()
