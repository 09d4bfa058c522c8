/* Preloaded into a program that knows nothing of Airloom, this makes it a member whose time is the simulation's.
 *   gcc -O2 -shared -fPIC -o simulation_time.so simulation_time.c
 *   members: {logic: {command: [env, LD_PRELOAD=./simulation_time.so, ./program], rate: 50}}
 * A wait is a row of turns: the simulation goes on while the program waits, and stands still while it works. For
 * programs with one thread that get their time from the C library; docs/howto/exec.md says what is not followed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
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

int pthread_create(pthread_t *thread, const pthread_attr_t *kind, void *(*body)(void *), void *argument) {
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    if (line < 0) return real(thread, kind, body, argument);
    fprintf(stderr, "simulation_time: a program with threads cannot follow; let it join the loom itself\n");
    exit(1);
}
