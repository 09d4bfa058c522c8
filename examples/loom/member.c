/* A member of the loom in plain C: it leads its vehicles along a circle.  gcc -O2 -o member member.c -lm
 * The protocol is in docs/reference/loom.md. Little-endian machines only, as the protocol is. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO = 1, WELCOME = 2, BEGIN = 4, END = 5, VERSION = 1, POSITION_YAW = 1 };

static int line;
static uint8_t in[1 << 20], out[1 << 16];
static size_t filled;

static void put(const void *data, size_t size) { memcpy(out + filled, data, size); filled += size; }
static void put_u8(uint8_t x) { put(&x, 1); }
static void put_u16(uint16_t x) { put(&x, 2); }
static void put_u64(uint64_t x) { put(&x, 8); }
static void put_text(const char *text) { put_u16(strlen(text)); put(text, strlen(text)); }

static void start(uint8_t kind) { filled = 4; put_u8(kind); }
static void send_it(void) {
    uint32_t length = filled - 4;
    memcpy(out, &length, 4);
    if (write(line, out, filled) != (ssize_t)filled) exit(1);
}

static void read_all(void *data, size_t size) {
    for (uint8_t *at = data; size;) {
        ssize_t got = read(line, at, size);
        if (got <= 0) exit(0); /* the run is over */
        at += got, size -= got;
    }
}

static uint8_t receive(void) { /* the kind; the body is in `in` */
    uint32_t length;
    read_all(&length, 4);
    if (length < 1 || length > sizeof in) exit(1);
    uint8_t kind;
    read_all(&kind, 1);
    read_all(in, length - 1);
    return kind;
}

int main(void) {
    const char *address = getenv("AIRLOOM_LOOM"), *name = getenv("AIRLOOM_MEMBER");
    if (!address || strncmp(address, "unix:", 5)) return fprintf(stderr, "AIRLOOM_LOOM is not unix:/path\n"), 1;
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    strncpy(place.sun_path, address + 5, sizeof place.sun_path - 1);
    line = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(line, (struct sockaddr *)&place, sizeof place)) return perror("connect"), 1;

    start(HELLO), put_u16(VERSION), put_u8(255), put_u64(0); /* phase and period: as the scenario says */
    put_text(name ? name : "circle"), put_text(""), put_text(""), send_it();
    if (receive() != WELCOME) return fprintf(stderr, "not admitted: %s\n", (char *)in + 2), 1;

    while (receive() == BEGIN) {
        uint64_t time_ns;
        uint16_t vehicles;
        memcpy(&time_ns, in, 8), memcpy(&vehicles, in + 8, 2);
        double t = time_ns * 1e-9;
        start(END), put_u64(time_ns), put_u16(vehicles);
        for (uint16_t k = 0; k < vehicles; k++) {
            double at[4] = {3 * cos(t / 4 + k), 3 * sin(t / 4 + k), 2 + k, 0}; /* x, y, z, yaw */
            put_u16(k), put_u8(POSITION_YAW), put_u8(4), put(at, sizeof at);
        }
        put_u16(0); /* no letters */
        send_it();
    }
    return 0;
}
