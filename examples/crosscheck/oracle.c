/* Algorithm 1 (the gradient oracle) in C, as a client of `dpso crosscheck`:
 *
 *     cc -O2 -o oracle examples/crosscheck/oracle.c -lm
 *     dpso crosscheck gll-oracle --exec ./oracle
 *
 * One request a line on stdin, one reply a line on stdout. Line numbers in comments are the paper's.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the little JSON that a case of this algorithm needs: find a key, read strings, numbers, arrays ---- */

static char *value_of(char *text, const char *key) { /* the text after "key": */
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    char *at = strstr(text, quoted);
    if (!at) { fprintf(stderr, "no %s in the request\n", key); exit(1); }
    at += strlen(quoted);
    while (*at == ' ') at++;
    return at;
}

static int is_null(const char *at) { return strncmp(at, "null", 4) == 0; }

static double real(const char *at) { return strtod(at + (*at == '"'), NULL); } /* "0.5" or 0.5 */

static char *word(char *at, char *into, size_t size) {
    size_t n = strcspn(at + 1, "\"");
    snprintf(into, size, "%.*s", (int)n, at + 1);
    return into;
}

static int reals(const char *at, double *into, int most) { /* ["0.5", "1"] */
    int n = 0;
    const char *end = strchr(at, ']');
    for (at++; n < most; n++) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at) break;
        into[n] = strtod(at + 1, NULL);
        at = strchr(at + 1, '"') + 1;
    }
    return n;
}

/* ---- losses ---- */

typedef struct { char family[32]; double y, par, L0, R, beta, alpha, low, high; } Problem;

static double between(double x, double a, double b) { return x < a ? a : x > b ? b : x; }

static double kinked(double u, double kink, double left, double right) { /* the subgradient nearest 0 */
    return u < kink ? left : u > kink ? right : between(0, fmin(left, right), fmax(left, right));
}

static double lipschitz(const Problem *q) {
    if (!strcmp(q->family, "hinge") || !strcmp(q->family, "logistic")) return fabs(q->y);
    if (!strcmp(q->family, "quantile")) return fmax(q->par, 1 - q->par);
    return !strcmp(q->family, "huber") ? q->par : 1;
}

static double value(const Problem *q, double u) {
    double t = u - q->y;
    if (!strcmp(q->family, "absolute")) return fabs(t);
    if (!strcmp(q->family, "hinge")) return fmax(0, 1 - q->y * u);
    if (!strcmp(q->family, "quantile")) return fmax(-q->par * t, (1 - q->par) * t);
    if (!strcmp(q->family, "epsilon-insensitive")) return fmax(0, fabs(t) - q->par);
    if (!strcmp(q->family, "logistic")) return log1p(exp(-q->y * u));
    double s = fmin(fabs(t), q->par); /* huber */
    return s * s / 2 + q->par * (fabs(t) - s);
}

static double slope(const Problem *q, double u) {
    double y = q->y, w = q->par;
    if (!strcmp(q->family, "absolute")) return kinked(u, y, -1, 1);
    if (!strcmp(q->family, "hinge")) return y > 0 ? kinked(u, 1 / y, -y, 0) : kinked(u, 1 / y, 0, -y);
    if (!strcmp(q->family, "quantile")) return kinked(u, y, -w, 1 - w);
    if (!strcmp(q->family, "epsilon-insensitive")) return u < y ? kinked(u, y - w, -1, 0) : kinked(u, y + w, 0, 1);
    if (!strcmp(q->family, "logistic")) return -y / (1 + exp(y * u));
    return between(u - y, -w, w); /* huber */
}

/* ---- Algorithm 1 ---- */

static char reply[1 << 16];
static size_t used;

static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(reply + used, sizeof reply - used, format, arguments);
    va_end(arguments);
}

static void mark(const char *name, int t, double x) {
    say("{\"name\": \"%s\", \"index\": [", name);
    if (t) say("%d", t);
    say("], \"value\": %.17g}, ", x);
}

static double penalised(const Problem *q, double u, double m) { return value(q, u) + (u - m) * (u - m); }

static double search(const Problem *q, double m, int printed) { /* returns m - u: the offset keeps its digits */
    double r = q->L0 / q->beta * (printed ? 2 : 1);
    double a = fmax(q->low - m, -r), b = fmin(q->high - m, r);           /* L2, relative to m */
    double size = printed ? 16 * q->L0 * q->L0 * q->R * q->R : q->L0 * q->R;
    double step = printed ? q->alpha * q->alpha : q->alpha, best = 0, least = INFINITY;
    int T = 0;
    while (size > ldexp(step, T)) T++;                                   /* L3, no logarithm */
    mark("m", 0, m), mark("a", 0, m + a), mark("b", 0, m + b), mark("T", 0, T);
    for (int t = 1; t <= T; t++) {                                       /* L4 */
        double c = (a + b) / 2;                                          /* L5 */
        int left = printed ? penalised(q, m + (c + b) / 2, m) <= penalised(q, m + (a + c) / 2, m)
                           : slope(q, m + c) + q->beta * c >= 0;         /* L6 */
        if (left) b = c; else a = c;                                     /* L7-L9 */
        mark("m_t", t, m + c);
        say("{\"name\": \"keep\", \"index\": [%d], \"value\": \"%s\"}, ", t, left ? "left" : "right");
        if (penalised(q, m + c, m) < least) least = penalised(q, m + c, m), best = c;
    }
    double u = printed ? best : (a + b) / 2;                             /* L10 */
    mark("u", 0, m + u);
    return -u;
}

static const char *fault(const Problem *q, int nw, int nx) {
    if (nw != nx) return "w and x must have the same dimension";
    if (!(q->beta > 0 && q->alpha > 0 && q->L0 > 0 && q->R > 0)) return "beta, alpha, L0 and R must be positive";
    if (q->alpha >= 4 * q->L0 * q->R) return "alpha must be less than 4 L0 R";
    return lipschitz(q) > q->L0 ? "the loss is steeper than L0" : NULL;
}

static void answer(char *line) {
    char variant[16];
    double w[64], x[64], ends[2], m = 0;
    char *input = value_of(line, "input");
    Problem q = {.low = -INFINITY, .high = INFINITY};
    word(value_of(input, "family"), q.family, sizeof q.family);
    word(value_of(line, "variant"), variant, sizeof variant);
    if (strstr(input, "\"tau\":")) q.par = real(value_of(input, "tau"));
    if (strstr(input, "\"width\":")) q.par = real(value_of(input, "width"));
    q.y = real(value_of(input, "y")), q.beta = real(value_of(input, "beta")), q.alpha = real(value_of(input, "alpha"));
    q.L0 = real(value_of(input, "L0")), q.R = real(value_of(input, "R"));
    int nw = reals(value_of(input, "w"), w, 64), nx = reals(value_of(input, "x"), x, 64);
    int printed = !strcmp(variant, "printed");
    if (!is_null(value_of(input, "M"))) reals(value_of(input, "M"), ends, 2), q.low = ends[0], q.high = ends[1];
    for (int j = 0; j < nw && j < nx; j++) m += w[j] * x[j];             /* L1 */
    const char *why = fault(&q, nw, nx);
    double reach = (printed ? 2 : 1) * q.L0 / q.beta;
    if (!why && (m + reach < q.low || m - reach > q.high)) why = "M does not meet the interval of line 2";
    used = 0;
    if (why) { printf("{\"reject\": \"%s\"}\n", why); return; }
    say("{\"trace\": [");
    double derivative = q.beta * search(&q, m, printed);                 /* L11 */
    if (!printed) derivative = between(derivative, -q.L0, q.L0);
    used -= 2; /* the last comma */
    say("], \"output\": {\"gradient\": [");
    for (int j = 0; j < nx; j++) say(j ? ", %.17g" : "%.17g", derivative * x[j]);
    printf("%s]}}\n", reply);
}

int main(void) {
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        answer(line);
        fflush(stdout);
    }
    return 0;
}
