/* The wing hears from the herald and lets its own two follow, a second apart. It speaks to the loom by itself; to sleep is
 * to answer turns until it is time. The protocol is in docs/reference/loom.md. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO = 1, WELCOME = 2, BEGIN = 4, END = 5, VERSION = 1, POSITION_YAW = 1, AS_DESCRIBED = 255 };
enum { WORDS = 4096, STATE = 13 * 8 };
static const double BEHIND = 1.0, HIGHER = 0.5; /* s, m */

struct word { double heard, x, y, z; };
static struct word words[WORDS]; /* in a ring */
static unsigned long heard, passed[2];

static int line;
static uint8_t in[1 << 20], out[1 << 12];
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
    uint8_t kind;
    read_all(&length, 4);
    if (length < 1 || length > sizeof in) exit(1);
    read_all(&kind, 1);
    read_all(in, length - 1);
    return kind;
}

static void hear(double now, uint16_t vehicles) {
    const uint8_t *at = in + 10 + vehicles * STATE;
    uint16_t letters, name;
    uint32_t size;
    memcpy(&letters, at, 2), at += 2;
    for (; letters; letters--) {
        char text[100] = {0};
        memcpy(&name, at, 2), at += 2 + name; /* whoever wrote it */
        memcpy(&size, at, 4), at += 4;
        memcpy(text, at, size < sizeof text ? size : sizeof text - 1), at += size;
        struct word *word = &words[heard % WORDS];
        if (sscanf(text, "%lf %lf %lf", &word->x, &word->y, &word->z) == 3) word->heard = now, heard++;
    }
}

static const struct word *due(int follower, double now) { /* the newest that is old enough */
    const struct word *found = NULL;
    while (passed[follower] < heard && words[passed[follower] % WORDS].heard <= now - (follower + 1) * BEHIND)
        found = &words[passed[follower]++ % WORDS];
    return found;
}

int main(void) {
    const char *address = getenv("AIRLOOM_LOOM"), *name = getenv("AIRLOOM_MEMBER");
    if (!address || strncmp(address, "unix:", 5)) return fprintf(stderr, "AIRLOOM_LOOM is not unix:/path\n"), 1;
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    strncpy(place.sun_path, address + 5, sizeof place.sun_path - 1);
    line = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(line, (struct sockaddr *)&place, sizeof place)) return perror("connect"), 1;

    start(HELLO), put_u16(VERSION), put_u8(AS_DESCRIBED), put_u64(0);
    put_text(name ? name : "wing"), put_text(""), put_text(""), send_it();
    if (receive() != WELCOME) return fprintf(stderr, "not admitted: %s\n", (char *)in + 2), 1;

    while (receive() == BEGIN) {
        uint64_t time_ns;
        uint16_t vehicles, orders = 0;
        memcpy(&time_ns, in, 8), memcpy(&vehicles, in + 8, 2);
        double now = time_ns * 1e-9;
        hear(now, vehicles);
        start(END), put_u64(time_ns);
        size_t count_at = filled;
        put_u16(0);
        for (uint16_t k = 0; k < 2 && k < vehicles; k++) {
            const struct word *word = due(k, now);
            if (!word) continue;
            double at[3] = {word->x, word->y, word->z + HIGHER * (k + 1)};
            put_u16(k), put_u8(POSITION_YAW), put_u8(3), put(at, sizeof at), orders++;
        }
        memcpy(out + count_at, &orders, 2);
        put_u16(0); /* no letters */
        send_it();
    }
    return 0;
}
