/* A height controller outside Airloom, in plain C: one round trip of JSON a turn.
 *
 * airloom serve hover --set systems={} --set vehicles.cf.controller=null --socket airloom.sock
 * gcc -O2 -Wall -Werror controller.c -lm -o controller && ./controller airloom.sock
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int link_fd;
static char reply[65536];

static void ask(const char *request)
{
    size_t length = 0, size = strlen(request);
    if (write(link_fd, request, size) != (ssize_t)size) exit(1);
    do {
        ssize_t got = read(link_fd, reply + length, sizeof reply - 1 - length);
        if (got <= 0) exit(1);
        length += got;
    } while (reply[length - 1] != '\n');
    reply[length] = 0;
    if (!strstr(reply, "\"ok\":true")) {
        fputs(reply, stderr);
        exit(1);
    }
}

/* The number at a place in the list that belongs to a key; a plain number is a list of one. */
static double number(const char *key, int place)
{
    char *at = strstr(reply, key);
    if (!at) exit(1);
    at += strlen(key) + strspn(at + strlen(key), "\":[");
    while (place--) at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **words)
{
    const double height = 1.0, frequency = 2.0; /* m, rad/s */
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    strncpy(place.sun_path, count > 1 ? words[1] : "airloom.sock", sizeof place.sun_path - 1);
    link_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(link_fd, (struct sockaddr *)&place, sizeof place)) return perror(place.sun_path), 1;

    ask("{\"method\":\"describe\"}\n");
    double mass = number("mass", 0), gravity = number("gravity", 0), lift = 4 * number("thrust_constants", 0);
    ask("{\"method\":\"reset\",\"seed\":1,\"observe\":\"cf\"}\n");
    double began = seconds();
    int turns = 0;
    for (; number("\"time\"", 0) < 6.0; turns++) {
        double z = number("position", 2), climb = number("velocity", 2);
        double acceleration = frequency * frequency * (height - z) - 2 * frequency * climb;
        double speed = sqrt(fmax(mass * (gravity + acceleration), 0.0) / lift);
        char request[512];
        snprintf(request, sizeof request,
                 "{\"method\":\"step\",\"ticks\":4,\"observe\":\"cf\",\"rotors\":{\"vehicle\":\"cf\","
                 "\"speeds\":[%.17g,%.17g,%.17g,%.17g]}}\n", speed, speed, speed, speed);
        ask(request);
    }
    printf("height %.3f m, %.0f us a turn\n", number("position", 2), 1e6 * (seconds() - began) / turns);
    ask("{\"method\":\"close\"}\n");
    return close(link_fd);
}
