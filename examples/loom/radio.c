/* A member of the loom in plain C that talks by radio: the vehicle `leader` flies a circle and says where it is, and
 * all others that hear it fly 2 m above the place that they heard of.  gcc -O2 -o radio radio.c -lm
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
enum { MOST = 64, NAME = 100, STATE = 13 * 8, HEAD = 8 + 8 + 8 }; /* of a packet: time sent, time heard, strength */

static int line;
static uint8_t in[1 << 20], out[1 << 16], *at;
static size_t filled;
static char names[MOST][NAME];
static double heard[MOST][3]; /* where the leader was, by what each vehicle has heard */
static int has_heard[MOST];

static void put(const void *data, size_t size) { memcpy(out + filled, data, size); filled += size; }
static void put_u8(uint8_t x) { put(&x, 1); }
static void put_u16(uint16_t x) { put(&x, 2); }
static void put_u32(uint32_t x) { put(&x, 4); }
static void put_u64(uint64_t x) { put(&x, 8); }
static void put_text(const char *text) { put_u16(strlen(text)); put(text, strlen(text)); }

static uint16_t get_u16(void) { uint16_t x; memcpy(&x, at, 2), at += 2; return x; }
static uint32_t get_u32(void) { uint32_t x; memcpy(&x, at, 4), at += 4; return x; }
static uint64_t get_u64(void) { uint64_t x; memcpy(&x, at, 8), at += 8; return x; }
static void get_text(char *text, size_t room) { /* longer ones are cut */
    uint16_t length = get_u16();
    snprintf(text, room, "%.*s", length, (char *)at), at += length;
}

static void start(uint8_t kind) { filled = 4; put_u8(kind); }
static void send_it(void) {
    uint32_t length = filled - 4;
    memcpy(out, &length, 4);
    if (write(line, out, filled) != (ssize_t)filled) exit(1);
}

static void read_all(void *data, size_t size) {
    for (uint8_t *to = data; size;) {
        ssize_t got = read(line, to, size);
        if (got <= 0) exit(0); /* the run is over */
        to += got, size -= got;
    }
}

static uint8_t receive(void) { /* the kind; `at` is at its body */
    uint32_t length;
    uint8_t kind;
    read_all(&length, 4);
    if (length < 1 || length > sizeof in) exit(1);
    read_all(&kind, 1);
    read_all(in, length - 1);
    at = in;
    return kind;
}

static void take_letters(int vehicles) { /* radio:NODE<SENDER>TO brings what NODE has heard; others do not concern us */
    for (uint16_t letters = get_u16(); letters; letters--) {
        char other[3 * NAME], node[NAME], sender[NAME];
        get_text(other, sizeof other);
        uint32_t length = get_u32();
        const uint8_t *content = at;
        at += length;
        if (sscanf(other, "radio:%99[^</]<%99[^>]>", node, sender) != 2 || strcmp(sender, "leader")) continue;
        for (int k = 0; k < vehicles; k++)
            if (!strcmp(names[k], node) && length == HEAD + sizeof heard[k])
                memcpy(heard[k], content + HEAD, sizeof heard[k]), has_heard[k] = 1;
    }
}

int main(void) {
    const char *address = getenv("AIRLOOM_LOOM"), *name = getenv("AIRLOOM_MEMBER");
    if (!address || strncmp(address, "unix:", 5)) return fprintf(stderr, "AIRLOOM_LOOM is not unix:/path\n"), 1;
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    strncpy(place.sun_path, address + 5, sizeof place.sun_path - 1);
    line = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(line, (struct sockaddr *)&place, sizeof place)) return perror("connect"), 1;

    start(HELLO), put_u16(VERSION), put_u8(255), put_u64(0); /* phase and period: as the scenario says */
    put_text(name ? name : "swarm"), put_text(""), put_text(""), send_it();
    if (receive() != WELCOME) return fprintf(stderr, "not admitted: %s\n", (char *)in + 2), 1;
    at += 2 + 8 + 8; /* version, step, time */
    int vehicles = get_u16();
    if (vehicles > MOST) return fprintf(stderr, "too many vehicles\n"), 1;
    for (int k = 0; k < vehicles; k++) get_text(names[k], NAME);

    while (receive() == BEGIN) {
        uint64_t time_ns = get_u64();
        int leader = -1;
        get_u16(); /* as many vehicles as in WELCOME */
        uint8_t *states = at;
        at += vehicles * STATE;
        take_letters(vehicles);
        start(END), put_u64(time_ns);
        uint16_t orders = 0;
        for (int k = 0; k < vehicles; k++) orders += has_heard[k] || !strcmp(names[k], "leader");
        put_u16(orders);
        for (int k = 0; k < vehicles; k++) {
            double t = time_ns * 1e-9, to[4] = {heard[k][0], heard[k][1], heard[k][2] + 2, 0}; /* x, y, z, yaw */
            if (!strcmp(names[k], "leader")) leader = k, to[0] = 3 * cos(t / 4), to[1] = 3 * sin(t / 4), to[2] = 2;
            else if (!has_heard[k]) continue;
            put_u16(k), put_u8(POSITION_YAW), put_u8(4), put(to, sizeof to);
        }
        put_u16(leader >= 0); /* letters: radio:NODE>TO asks the radio of NODE to send */
        if (leader >= 0) put_text("radio:leader>*"), put_u32(24), put(states + leader * STATE, 24);
        send_it();
    }
    return 0;
}
