/* cc -O2 rope.c -lm -o rope: answers `ropespec check --command ./rope --half`, in one file. The rotation
   is `rotate`; put your own in its place. The protocol is in README.md. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *header, *data; /* of the request */

/* The words of the request are plain text in its header: "key":"value". */
static const char *word(const char *key) {
    static char value[64];
    char quoted[64], *at = (snprintf(quoted, sizeof quoted, "\"%s\":\"", key), strstr(header, quoted));
    value[0] = 0;
    if (at) sscanf(at + strlen(quoted), "%63[^\"]", value);
    return at ? value : NULL;
}

struct tensor { char dtype[8]; char shape[128]; long start, stop; };

static int tensor(const char *name, struct tensor *t) {
    char quoted[64], *at = (snprintf(quoted, sizeof quoted, "\"%s\":{", name), strstr(header, quoted));
    return at && sscanf(strstr(at, "\"dtype\":\""), "\"dtype\":\"%7[^\"]", t->dtype) == 1
        && (sscanf(strstr(at, "\"shape\":["), "\"shape\":[%127[^]]", t->shape) == 1 || !(t->shape[0] = 0))
        && sscanf(strstr(at, "\"data_offsets\":["), "\"data_offsets\":[%ld,%ld", &t->start, &t->stop) == 2;
}

/* A reply: the length of the file, the length of its header, the header, y. */
static void reply(const char *words, const struct tensor *like, const void *y) {
    char text[1024];
    long size = like ? like->stop - like->start : 0;
    int n = snprintf(text, sizeof text, "{\"__metadata__\":{%s}", words);
    if (like)
        n += snprintf(text + n, sizeof text - n, ",\"y\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[0,%ld]}",
                      like->dtype, like->shape, size);
    text[n++] = '}';
    uint64_t inner = n, outer = 8 + n + size;
    fwrite(&outer, 8, 1, stdout), fwrite(&inner, 8, 1, stdout), fwrite(text, 1, n, stdout);
    if (size) fwrite(y, 1, size, stdout);
    fflush(stdout);
}

static double get(const char *dtype, const void *x, long i) {
    union { uint32_t bits; float value; } wide = {*dtype == 'B' ? (uint32_t)((uint16_t *)x)[i] << 16 : 0};
    return *dtype == 'B' ? wide.value : !strcmp(dtype, "F16") ? ((_Float16 *)x)[i]
         : !strcmp(dtype, "F64") ? ((double *)x)[i] : ((float *)x)[i];
}

static void put(const char *dtype, void *y, long i, double value) {
    union { float value; uint32_t bits; } wide = {value};
    uint32_t up = wide.bits + 0x7fff + (wide.bits >> 16 & 1);
    if (*dtype == 'B') ((uint16_t *)y)[i] = (wide.value != wide.value ? wide.bits | 0x400000 : up) >> 16;
    else if (!strcmp(dtype, "F16")) ((_Float16 *)y)[i] = value;
    else if (!strcmp(dtype, "F64")) ((double *)y)[i] = value;
    else ((float *)y)[i] = value;
}

static void rotate(const struct tensor *x, const struct tensor *positions, char *y) {
    long batch, seq, heads, size, interleaved = !strcmp(word("interleaved"), "true");
    sscanf(x->shape, "%ld,%ld,%ld,%ld", &batch, &seq, &heads, &size);
    double base = atof(word("base"));
    long dim = word("rotary_dim") ? atol(word("rotary_dim")) : size, wide = !strcmp(positions->dtype, "I64");
    memcpy(y, data + x->start, x->stop - x->start);
    for (long row = 0; row < batch * seq * heads; row++) {
        char *at = data + positions->start;
        double m = wide ? ((int64_t *)at)[row / heads] : ((int32_t *)at)[row / heads];
        for (long i = 0; i < dim / 2; i++) {
            long first = row * size + (interleaved ? 2 * i : i), second = first + (interleaved ? 1 : dim / 2);
            double a = get(x->dtype, data + x->start, first), b = get(x->dtype, data + x->start, second);
            double angle = m * pow(base, -2.0 * i / dim), c = cos(angle), s = sin(angle);
            put(x->dtype, y, first, a * c - b * s);
            put(x->dtype, y, second, a * s + b * c);
        }
    }
}

int main(void) {
    for (uint64_t outer, inner; fread(&outer, 8, 1, stdin) == 1 && fread(&inner, 8, 1, stdin) == 1;) {
        header = calloc(inner + 1, 1), data = malloc(outer - 8 - inner + 1);
        if (fread(header, 1, inner, stdin) != inner || fread(data, 1, outer - 8 - inner, stdin) != outer - 8 - inner)
            return 1;
        struct tensor x = {0}, positions = {0};
        char words[256];
        int n = snprintf(words, sizeof words, "\"sequence\":\"%s\"", word("sequence"));
        const char *call = word("call");
        if (!strcmp(call, "describe"))
            reply(strcat(words, ",\"protocol\":\"1\",\"name\":\"rope.c\",\"keywords\":\"interleaved base rotary_dim\","
                  "\"profile\":\"{\\\"interleaved\\\": [true, false]}\""), NULL, NULL);
        else if (!strcmp(call, "echo") && tensor("x", &x))
            reply(words, &x, data + x.start);
        else if (!strcmp(call, "rotate") && tensor("x", &x) && tensor("positions", &positions)) {
            char *y = malloc(x.stop - x.start + 1);
            rotate(&x, &positions, y);
            reply(words, &x, y);
            free(y);
        } else {
            snprintf(words + n, sizeof words - n, ",\"error\":\"cannot %.40s\"", call);
            reply(words, NULL, NULL);
        }
        free(header), free(data);
    }
    return 0;
}
