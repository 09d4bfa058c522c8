/* Preloaded into a program that knows nothing of Airloom, this makes it a member whose time is the simulation's.
 *   gcc -O2 -shared -fPIC -o simulation_time.so simulation_time.c
 *   members: {logic: {command: [env, LD_PRELOAD=./simulation_time.so, ./program], rate: 50}}
 * A wait is a row of turns: the simulation goes on while the program waits, and stands still while it works. For
 * programs with one thread that get their time from the C library; docs/howto/exec.md says what is not followed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef EPOCH
#define EPOCH 1767225600 /* Unix time at 0 s of the simulation: 2026-01-01 */
#endif
enum { HELLO = 1, WELCOME = 2, BEGIN = 4, END = 5, BYE = 6, VERSION = 1 };
static const int64_t NS = 1000000000, NEVER = INT64_MAX;

static int line = -1; /* to the loom; -1 where there is none: then all is as ever */
static int64_t now;
static int looks;
static int networks; /* of the run's radio, 10.73.0.0 and so on, one for each band */
static uint8_t in[1 << 20], out[1 << 10];
static size_t filled;

static void put(const void *data, size_t size) { memcpy(out + filled, data, size), filled += size; }
static void put_u8(uint8_t x) { put(&x, 1); }
static void put_u16(uint16_t x) { put(&x, 2); }
static void put_u64(uint64_t x) { put(&x, 8); }
static void put_text(const char *text) { put_u16(strlen(text)), put(text, strlen(text)); }
static void start(uint8_t kind) { filled = 4, put_u8(kind); }

static void send_it(void) {
    uint32_t length = filled - 4;
    memcpy(out, &length, 4);
    send(line, out, filled, MSG_NOSIGNAL); /* if the loom is gone, the next read says so */
}

static int read_all(void *data, size_t size) {
    for (uint8_t *at = data; size;) {
        ssize_t got = read(line, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        at += got, size -= got;
    }
    return 1;
}

static int receive(void) { /* the kind; the body is in `in`; 0 when the loom is gone */
    uint32_t length;
    uint8_t kind;
    if (!read_all(&length, 4) || length < 1 || length > sizeof in) return 0;
    return read_all(&kind, 1) && read_all(in, length - 1) ? kind : 0;
}

static int bands_in(const char *nodes, size_t size) { /* JSON: {…, "bands": {"": [names], "long": [names]}} */
    const char *end = nodes + size, *one = memmem(nodes, size, "\"bands\": {", 10);
    int count = 0;
    while (one && (one = memmem(one, end - one, "\": [", 4))) one++, count++;
    return count;
}

static void find_networks(void) { /* one of the letters of the first turn names the nodes, if there is a radio */
    const uint8_t *at = in + 10 + 13 * 8 * (in[8] | in[9] << 8);
    for (int letters = at[0] | at[1] << 8, k = (at += 2, 0); k < letters; k++) {
        uint16_t name;
        uint32_t size;
        memcpy(&name, at, 2), memcpy(&size, at + 2 + name, 4);
        if (name == 6 && !memcmp(at + 2, "radio:", 6)) networks = bands_in((const char *)at + 12, size);
        at += 6 + name + size;
    }
}

static int next_turn(void) {
    int kind = receive();
    looks = 0;
    if (kind == BEGIN) memcpy(&now, in, 8);
    return kind == BEGIN;
}

static void end_turn(void) { start(END), put_u64(now), put_u16(0), put_u16(0), send_it(); } /* no orders, no letters */

static void turn(void) {
    end_turn();
    if (!next_turn()) close(line), line = -1, exit(0); /* the run is over */
}

static void look(void) { /* whoever does nothing but look would never let the time move */
    if (++looks > 1000) turn();
}

static void leave(int code, void *unused) { /* in good order; else the loom sees that it has failed */
    (void)unused;
    if (line < 0 || code) return;
    end_turn();
    if (next_turn()) start(BYE), put_text("done"), send_it();
}

static void stay_out(void) { line = -1; } /* a copy of the program is no member */

__attribute__((constructor)) static void join(void) {
    const char *address = getenv("AIRLOOM_LOOM"), *name = getenv("AIRLOOM_MEMBER");
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    if (!address || !name) return;
    unsetenv("LD_PRELOAD"); /* children live on the machine's time */
    strncpy(place.sun_path, strncmp(address, "unix:", 5) ? "" : address + 5, sizeof place.sun_path - 1);
    line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(line, (struct sockaddr *)&place, sizeof place)) perror("simulation_time: AIRLOOM_LOOM"), _exit(1);
    start(HELLO), put_u16(VERSION), put_u8(255), put_u64(0); /* phase and period: as the scenario says */
    put_text(name), put_text(""), put_text(""), send_it();
    if (receive() != WELCOME) fprintf(stderr, "simulation_time: the loom did not let %s in\n", name), _exit(1);
    if (!next_turn()) _exit(0);
    find_networks();
    on_exit(leave, NULL);
    pthread_atfork(NULL, NULL, stay_out);
}

/* -- what the program calls -------------------------------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *at) {
    int unix_time = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    if (line < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0)
        return syscall(SYS_clock_gettime, clock, at);
    look();
    at->tv_sec = now / NS + (unix_time ? EPOCH : 0), at->tv_nsec = now % NS;
    return 0;
}

int gettimeofday(struct timeval *at, void *zone) {
    struct timespec fine;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &fine);
    at->tv_sec = fine.tv_sec, at->tv_usec = fine.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec fine;
    clock_gettime(CLOCK_REALTIME, &fine);
    return at ? *at = fine.tv_sec : fine.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *for_, struct timespec *left) {
    int64_t until = for_->tv_sec * NS + for_->tv_nsec;
    if (line < 0) return syscall(SYS_clock_nanosleep, clock, flags, for_, left) ? errno : 0;
    if (!(flags & TIMER_ABSTIME)) until += now;
    else if (clock == CLOCK_REALTIME) until -= EPOCH * NS;
    while (now < until) turn();
    return 0;
}

int nanosleep(const struct timespec *for_, struct timespec *left) {
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, for_, left);
    return error ? errno = error, -1 : 0;
}

int usleep(useconds_t us) { return nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL); }
unsigned sleep(unsigned s) { return nanosleep(&(struct timespec){s, 0}, NULL), 0; }

static int64_t deadline(double ms) { /* below 0 is never */
    if (ms == 0) look();
    return ms < 0 ? NEVER : now + (int64_t)(ms * 1e6);
}

static int poll_now(struct pollfd *files, nfds_t count, int ms) {
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
    return syscall(SYS_ppoll, files, count, ms < 0 ? NULL : &wait, NULL, 0);
}

int poll(struct pollfd *files, nfds_t count, int ms) {
    if (line < 0) return poll_now(files, count, ms);
    int64_t until = deadline(ms);
    int found;
    while (!(found = poll_now(files, count, 0)) && now < until) turn();
    return found;
}

int epoll_wait(int file, struct epoll_event *events, int most, int ms) {
    if (line < 0) return syscall(SYS_epoll_pwait, file, events, most, ms, NULL, 0);
    int64_t until = deadline(ms);
    int found;
    while (!(found = syscall(SYS_epoll_pwait, file, events, most, 0, NULL, 0)) && now < until) turn();
    return found;
}

static int select_now(int count, fd_set *in, fd_set *out, fd_set *odd, const fd_set *asked) {
    fd_set *sets[] = {in, out, odd};
    for (int k = 0; k < 3; k++)
        if (sets[k]) *sets[k] = asked[k];
    return syscall(SYS_pselect6, count, in, out, odd, &(struct timespec){0, 0}, NULL);
}

int select(int count, fd_set *in, fd_set *out, fd_set *odd, struct timeval *for_) {
    struct timespec fine = {for_ ? for_->tv_sec : 0, for_ ? for_->tv_usec * 1000 : 0};
    if (line < 0) return syscall(SYS_pselect6, count, in, out, odd, for_ ? &fine : NULL, NULL);
    int64_t until = deadline(for_ ? for_->tv_sec * 1e3 + for_->tv_usec * 1e-3 : -1);
    int found;
    fd_set asked[3];
    if (in) asked[0] = *in;
    if (out) asked[1] = *out;
    if (odd) asked[2] = *odd;
    while (!(found = select_now(count, in, out, odd, asked)) && now < until) turn();
    return found;
}

/* -- the radio's networks: programs under this library get neither into them nor past them ------------------------ */

static int is_of_networks(uint32_t address) {
    uint32_t network = address >> 16, first = 10 << 8 | 73;
    return address == INADDR_BROADCAST || IN_MULTICAST(address) || (network >= first && network < first + networks);
}

static int is_of_radio(const struct sockaddr *to) {
    if (line < 0 || !networks || !to) return 0;
    if (to->sa_family == AF_INET) return is_of_networks(ntohl(((const struct sockaddr_in *)to)->sin_addr.s_addr));
    if (to->sa_family != AF_INET6) return 0;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)to)->sin6_addr;
    uint32_t four;
    memcpy(&four, six->s6_addr + 12, 4);
    return IN6_IS_ADDR_MULTICAST(six) || (IN6_IS_ADDR_V4MAPPED(six) && is_of_networks(ntohl(four)));
}

static long refuse(int error) {
    static int is_told;
    if (!is_told++)
        fprintf(stderr, "simulation_time: sockets of this program cannot use the simulated radio, and what is of its "
                        "networks or for all does not go by the machine: let the program join the loom itself and "
                        "send letters, as examples/loom/radio.c does\n");
    return errno = error, -1;
}

int connect(int file, __CONST_SOCKADDR_ARG to, socklen_t size) {
    if (is_of_radio(to.__sockaddr__)) return refuse(ENETUNREACH);
    return syscall(SYS_connect, file, to.__sockaddr__, size);
}

ssize_t sendto(int file, const void *data, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t length) {
    if (is_of_radio(to.__sockaddr__)) return refuse(ENETUNREACH);
    return syscall(SYS_sendto, file, data, size, flags, to.__sockaddr__, length);
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
    if (is_of_radio(message->msg_name)) return refuse(ENETUNREACH);
    return syscall(SYS_sendmsg, file, message, flags);
}

int sendmmsg(int file, struct mmsghdr *messages, unsigned count, int flags) {
    for (unsigned k = 0; k < count; k++)
        if (is_of_radio(messages[k].msg_hdr.msg_name)) return refuse(ENETUNREACH);
    return syscall(SYS_sendmmsg, file, messages, count, flags);
}

int setsockopt(int file, int level, int name, const void *value, socklen_t size) {
    int in_four = level == IPPROTO_IP && (name == IP_ADD_MEMBERSHIP || name == IP_ADD_SOURCE_MEMBERSHIP);
    int in_six = level == IPPROTO_IPV6 && name == IPV6_JOIN_GROUP;
    int in_any = (level == IPPROTO_IP || level == IPPROTO_IPV6) && name >= MCAST_JOIN_GROUP && name <= MCAST_MSFILTER;
    int joins = in_four || in_six || in_any;
    if (line >= 0 && networks && joins) return refuse(ENODEV);
    return syscall(SYS_setsockopt, file, level, name, value, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *kind, void *(*body)(void *), void *argument) {
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    if (line < 0) return real(thread, kind, body, argument);
    fprintf(stderr, "simulation_time: a program with threads cannot follow; let it join the loom itself\n");
    exit(1);
}
