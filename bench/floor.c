/* What the rotation costs in C with nothing around it, beside a copy, on a processor with AVX-512.

   gcc -O3 -march=native -ffp-contract=off -fopenmp bench/floor.c -o floor -lm && ./floor 2

   Half-split pairs of (tokens, 32, 128), tables in float32 at hand and in registers for all heads of
   a token, into memory that is there; the argument is the number of threads. Least of many times. */

#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEADS = 32, DIM = 128, PAIRS = DIM / 2, ROW = HEADS * DIM };

typedef void Job(const void *x, void *y, const float *tables, long start, long stop);

#define EACH _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++)

/* A loop over tokens and heads of `type`: LOAD widens, STORE writes p and q at `to`. */
#define TURN(name, type, LOAD, STORE)                                                            \
    static void name(const void *x, void *y, const float *tables, long start, long stop) {       \
        for (long t = start; t < stop; t++) {                                                    \
            __m512 c[4], s[4];                                                                   \
            EACH c[i] = _mm512_loadu_ps(tables + t * DIM + 16 * i);                              \
            EACH s[i] = _mm512_loadu_ps(tables + t * DIM + PAIRS + 16 * i);                      \
            const type *from = (const type *)x + t * ROW;                                        \
            type *to = (type *)y + t * ROW;                                                      \
            for (int h = 0; h < HEADS; h++, from += DIM, to += DIM) {                            \
                __m512 p[4], q[4];                                                               \
                EACH {                                                                           \
                    __m512 a = LOAD(from + 16 * i), b = LOAD(from + PAIRS + 16 * i);             \
                    p[i] = _mm512_fmsub_ps(a, c[i], _mm512_mul_ps(b, s[i]));                     \
                    q[i] = _mm512_fmadd_ps(b, c[i], _mm512_mul_ps(a, s[i]));                     \
                }                                                                                \
                STORE                                                                            \
            }                                                                                    \
        }                                                                                        \
    }

#define HALF_WIDE(at) _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(at)))
#define BF16_WIDE(at)                                                                            \
    _mm512_castsi512_ps(_mm512_slli_epi32(                                                       \
        _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(at))), 16))
#define JOINED(r, k) (__m512i) _mm512_cvtne2ps_pbh(r[k + 1], r[k])
#define PUT(at, value) _mm512_storeu_si512(at, value)

#define FLOAT_STORE                                                                              \
    EACH _mm512_storeu_ps(to + 16 * i, p[i]);                                                    \
    EACH _mm512_storeu_ps(to + PAIRS + 16 * i, q[i]);
#define HALF_STORE                                                                               \
    EACH _mm256_storeu_si256((void *)(to + 16 * i), _mm512_cvtps_ph(p[i], 0));                   \
    EACH _mm256_storeu_si256((void *)(to + PAIRS + 16 * i), _mm512_cvtps_ph(q[i], 0));
#define BF16_STORE /* takes what is subnormal for zero */                                        \
    PUT(to, JOINED(p, 0)), PUT(to + 32, JOINED(p, 2));                                           \
    PUT(to + 64, JOINED(q, 0)), PUT(to + 96, JOINED(q, 2));
#define BF16_KEPT_STORE /* sees whether there is anything subnormal */                           \
    __mmask16 rare = 0;                                                                          \
    EACH rare |= _mm512_fpclass_ps_mask(p[i], 0x20) | _mm512_fpclass_ps_mask(q[i], 0x20);        \
    if (__builtin_expect(rare, 0)) abort();                                                      \
    BF16_STORE

TURN(turn_float32, float, _mm512_loadu_ps, FLOAT_STORE)
TURN(turn_float16, uint16_t, HALF_WIDE, HALF_STORE)
TURN(turn_bfloat16, uint16_t, BF16_WIDE, BF16_STORE)
TURN(turn_bfloat16_kept, uint16_t, BF16_WIDE, BF16_KEPT_STORE)

static void convert_float16(const void *x, void *y, const float *tables, long start, long stop) {
    for (long i = start * ROW; i < stop * ROW; i += 16)
        _mm256_storeu_si256((void *)((uint16_t *)y + i),
                            _mm512_cvtps_ph(HALF_WIDE((const uint16_t *)x + i), 0));
}

static void copy(const char *x, char *y, long start, long stop) {
    for (long i = start; i < stop; i += 64) PUT(y + i, _mm512_loadu_si512(x + i));
}
static void copy_16(const void *x, void *y, const float *tables, long start, long stop) {
    copy(x, y, 2 * ROW * start, 2 * ROW * stop);
}
static void copy_32(const void *x, void *y, const float *tables, long start, long stop) {
    copy(x, y, 4 * ROW * start, 4 * ROW * stop);
}

static struct { const char *name; Job *job; int size; double best; } jobs[] = {
    {"copy, 32 bits", copy_32, 4}, {"float32", turn_float32, 4}, {"copy, 16 bits", copy_16, 2},
    {"float16", turn_float16, 2}, {"float16, conversions alone", convert_float16, 2},
    {"bfloat16", turn_bfloat16_kept, 2}, {"bfloat16 without subnormals", turn_bfloat16, 2},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static float value(const void *y, long i, Job *job) {
    uint32_t word = (uint32_t)((const uint16_t *)y)[i] << 16;
    if (job == turn_float32) return ((const float *)y)[i];
    if (job == turn_float16) return _cvtsh_ss(((const uint16_t *)y)[i]);
    float wide;
    memcpy(&wide, &word, sizeof wide);
    return wide;
}

/* Stop if a number is wrong: only what rotates is worth timing. */
static void check(const void *x, const void *y, const float *tables, long tokens, Job *job) {
    for (long i = 0; i < tokens * PAIRS; i++) {
        long t = i / PAIRS, k = i % PAIRS, at = t * ROW + t % HEADS * DIM + k;
        float c = tables[t * DIM + k], s = tables[t * DIM + PAIRS + k];
        float a = value(x, at, job), b = value(x, at + PAIRS, job);
        float off = fabsf(value(y, at, job) - (a * c - b * s));
        off += fabsf(value(y, at + PAIRS, job) - (b * c + a * s));
        if (!(off < 0.03f)) fprintf(stderr, "wrong at token %ld, pair %ld\n", t, k), exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void fill(void *x, long count, int size) {
    for (long i = 0; i < count; i++) { /* from 1 to 2, in any dtype */
        unsigned low = i * 2654435761u >> 13 & 127;
        if (size == 4) ((float *)x)[i] = 1 + low / 128.0f;
        else ((uint16_t *)x)[i] = 0x3f80 + low;
    }
}

static void measure(long tokens, int threads) {
    char *x = aligned_alloc(4096, 4 * ROW * tokens), *y = aligned_alloc(4096, 4 * ROW * tokens);
    float *tables = aligned_alloc(4096, 4 * DIM * (tokens + 32) / 4096 * 4096 + 4096);
    for (long i = 0; i < tokens * PAIRS; i++) {
        long at = i / PAIRS * DIM + i % PAIRS;
        tables[at] = cosf(i), tables[at + PAIRS] = sinf(i);
    }
    memset(y, 0, 4 * ROW * tokens);
    for (int k = 0; k < JOBS; k++) jobs[k].best = 1e9;
    for (int repetition = 0; repetition < (tokens < 2048 ? 60 : 10); repetition++)
        for (int k = 0; k < JOBS; k++) {
            if (k == 0 || jobs[k].size != jobs[k - 1].size) fill(x, tokens * ROW, jobs[k].size);
            for (int again = 0; again < 3; again++) {
                double began = now();
#pragma omp parallel num_threads(threads)
                {
                    int own = omp_get_thread_num();
                    jobs[k].job(x, y, tables, tokens * own / threads, tokens * (own + 1) / threads);
                }
                double took = now() - began;
                if (took < jobs[k].best) jobs[k].best = took;
            }
            if (repetition == 0 && *jobs[k].name != 'c' && jobs[k].job != convert_float16)
                check(x, y, tables, tokens, jobs[k].job);
        }
    double copied = 0;
    for (int k = 0; k < JOBS; k++) {
        if (!strncmp(jobs[k].name, "copy", 4)) copied = jobs[k].best;
        printf("%5ld tokens  %-28s %9.1f us  %.2f copies\n", tokens, jobs[k].name,
               1e6 * jobs[k].best, jobs[k].best / copied);
    }
    free(x), free(y), free(tables);
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    if (threads < 1) return fprintf(stderr, "usage: floor THREADS\n"), 2;
    for (long tokens = 16; tokens <= 8192; tokens *= tokens == 16 ? 8 : 4) measure(tokens, threads);
    return 0;
}
