// Exact samples of projective trees: the twin of `sample` in treebp/kernels/log_eisner.py. A block has a sentence, and
// fills its charts; then each thread draws trees of its own, from the top of the chart down.
#include "dense_trees.cuh"
#include "eisner.cuh"

// A draw of k in [begin, end) in proportion to one row times another, the second `shift` ahead, given in logarithms.
__device__ int draw(Line<double> one, Line<double> two, int begin, int end, int shift, double uniform) {
    double top = -infinity(), total = 0.0;
    for (int k = begin; k < end; k++) top = fmax(top, one[k] + two[k + shift]);
    for (int k = begin; k < end; k++) total += exp(one[k] + two[k + shift] - top);
    double point = uniform * total;
    int pick = begin;
    for (int k = begin; k < end; k++) {
        double share = exp(one[k] + two[k + shift] - top);
        if (share > 0.0) {
            pick = k;
            point -= share;
            if (point < 0.0) break;
        }
    }
    return pick;
}

extern "C" __global__ void __launch_bounds__(512) sample_projective(
    const double* scores, const Int* lengths, Int batch, Int width, Int single_root, Int samples,
    const double* all_uniforms, Int* all_heads, int* verdicts, double* scratch, Int room
) {
    Int b = blockIdx.x;
    int size = (int)lengths[b] + 1, last = size - 1, verdict = BAD_LENGTH;
    double* place = scratch + b * room;
    double *weights = take<double>(place, size * size), *tops = take<double>(place, size);
    double* roots = take<double>(place, size);  // scores of each word as the only one below the root
    int* stacks = (int*)take<double>(place, samples * (3 * size + 3));
    Charts<Log, 0> charts(place, size);
    if (size >= 2 && size <= width) {
        DenseTrees trees{scores, nullptr, lengths, batch, width, single_root != 0, nullptr, nullptr, nullptr, nullptr};
        weigh<Log>(trees, b, size, tops, weights, &verdict);
        if (verdict == FINE && inside<Log>(weights, size, single_root != 0, charts) == -infinity()) verdict = NO_TREE;
    }
    if (verdict == FINE && single_root)
        FOR_THREADS(k, size) roots[k] = k == 0 ? -infinity()
            : weights[k] + charts.beginning(LEFT, 1)[k] + charts.ending(RIGHT, last)[k];
    __syncthreads();
    if (threadIdx.x == 0) verdicts[b] = verdict;
    for (Int sample = threadIdx.x; sample < samples; sample += blockDim.x) {
        Int* heads = all_heads + (b * samples + sample) * (width - 1);
        for (int word = 0; word < width - 1; word++) heads[word] = -1;
        if (verdict != FINE) continue;
        const double* uniforms = all_uniforms + (b * samples + sample) * 2 * width;
        int *stack = stacks + sample * 2 * (3 * size + 3), depth = 1;
        stack[0] = RIGHT, stack[1] = 0, stack[2] = last;
        if (single_root) {
            double nothing = 0.0;
            int root = draw(Line<double>{roots, 1}, Line<double>{&nothing, 0}, 1, size, 0, *uniforms++);
            heads[root - 1] = 0;
            stack[0] = LEFT, stack[1] = 1, stack[2] = root;
            stack[3] = RIGHT, stack[4] = root, stack[5] = last;
            depth = 2;
        }
        while (depth > 0) {
            depth--;
            int *own = stack + 3 * depth, chart = own[0], i = own[1], j = own[2];
            if (i == j) continue;
            // A complete item ends in an arc; what lies under the arc splits into two complete items.
            bool right = chart == RIGHT;
            int k = right
                ? draw(charts.beginning(ARC_RIGHT, i), charts.ending(RIGHT, j), i + 1, j + 1, 0, *uniforms++)
                : draw(charts.beginning(LEFT, i), charts.ending(ARC_LEFT, j), i, j, 0, *uniforms++);
            int low = right ? i : k, high = right ? k : j;
            heads[k - 1] = right ? i : j;
            int split = draw(charts.beginning(RIGHT, low), charts.ending(LEFT, high), low, high, 1, *uniforms++);
            own[1] = right ? k : i, own[2] = right ? j : k;
            own[3] = RIGHT, own[4] = low, own[5] = split;
            own[6] = LEFT, own[7] = split + 1, own[8] = high;
            depth += 3;
        }
    }
}
