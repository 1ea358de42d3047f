/* cc judge.c -lm -o judge && ./judge FILE.safetensors [CLASS]: rotates x, and counts what is outside
   the interval of a precision class. Put your own function in the place of `rotate`. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *header, *data, kind; /* of x and y: F for F32, B for BF16, H for F16 */
static void *tensor(const char *name, long *bytes) {
    char key[64];
    sprintf(key, "\"%s\":{", name);
    char *at = strstr(header, key);
    if (!at) fprintf(stderr, "no tensor %s\n", name), exit(2);
    char *end, *offsets = strstr(at, "\"data_offsets\":[") + 16;
    long start = strtol(offsets, &end, 10), stop = strtol(end + 1, NULL, 10);
    if (bytes) *bytes = stop - start;
    if (*name == 'x') kind = strstr(at, "\"dtype\":\"BF16\"") == at + strlen(key) ? 'B' : 0,
        kind = kind ? kind : strstr(at, "\"dtype\":\"F16\"") == at + strlen(key) ? 'H' : 'F';
    return data + start;
}
static double get(const void *t, long i) {
    union { uint32_t bits; float value; } wide = {kind == 'B' ? ((uint32_t)((uint16_t *)t)[i]) << 16 : 0};
    return kind == 'F' ? ((float *)t)[i] : kind == 'H' ? ((_Float16 *)t)[i] : wide.value;
}
static double rounded(double y) { /* to the dtype of x */
    union { float value; uint32_t bits; } wide = {(float)y};
    wide.bits = (wide.bits + 0x7fff + (wide.bits >> 16 & 1)) & 0xffff0000u;
    return kind == 'F' ? (float)y : kind == 'H' ? (_Float16)y : wide.value;
}
static void rotate(double *y, double m, long first, long second, double theta, double gain) {
    double a = y[first], b = y[second], c = gain * cos(m * theta), s = gain * sin(m * theta);
    y[first] = a * c - b * s, y[second] = a * s + b * c;
}
int main(int count, char **words) {
    FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
    uint64_t length;
    if (!file || fread(&length, 8, 1, file) != 1) return fprintf(stderr, "judge FILE [CLASS]\n"), 2;
    header = calloc(length + 1, 1), data = malloc(1 << 24);
    if (fread(header, 1, length, file) != length || !fread(data, 1, 1 << 24, file)) return 2;
    char low[64] = "low.", high[64] = "high.", *name = count > 2 ? words[2] : "float64-angles";
    long bytes, pairs, rows, numbers, outside = 0;
    void *x = tensor("x", &bytes), *from = tensor(strcat(low, name), 0), *to = tensor(strcat(high, name), 0);
    int64_t *positions = tensor("positions", &numbers), *first = tensor("first", &pairs),
            *second = tensor("second", 0), *axis = tensor("axis", 0);
    double *theta = tensor("theta", 0), gain = *(double *)tensor("gain", 0);
    char *shape = strstr(strstr(header, "\"x\":{"), "\"shape\":[") + 9;
    long seq, heads, size;
    sscanf(shape, "1,%ld,%ld,%ld", &seq, &heads, &size);
    pairs /= 8, numbers = numbers / 8 / seq, rows = seq * heads;
    double *y = malloc(size * sizeof *y);
    for (long row = 0; row < rows; row++) {
        for (long i = 0; i < size; i++) y[i] = get(x, row * size + i);
        for (long i = 0; i < pairs; i++)
            rotate(y, positions[row / heads * numbers + axis[i]], first[i], second[i], theta[i], gain);
        for (long i = 0; i < size; i++) {
            double got = rounded(y[i]);
            outside += !(got >= get(from, row * size + i) && got <= get(to, row * size + i));
        }
    }
    printf("%ld of %ld outside\n", outside, rows * size);
    return outside > 0;
}
