// The best trees of a batch, and whether heads are trees: the twins of treebp/kernels/tree_queries.py and
// best_projective.py. Ties are broken as there. A block has a sentence.
#include "dense_trees.cuh"
#include "eisner.cuh"

// The first k in [begin, end) at which one row plus another is largest; the second row is `shift` ahead.
__device__ int first_best(Line<double> one, Line<double> two, int begin, int end, int shift) {
    double best = -infinity();
    int place = end;
    for (int k = begin + threadIdx.x % 32; k < end; k += 32) {
        double score = one[k] + two[k + shift];
        if (place == end || score > best) {
            best = score;
            place = k;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        double other = shuffle(best, offset);
        int where = shuffle(place, offset);
        if (where < end && (place == end || other > best || (other == best && where < place))) {
            best = other;
            place = where;
        }
    }
    return place;
}

// Whether heads (of words 1..size-1, each in 0..size-1) form a tree; every thread of the block gets the answer.
__device__ bool is_tree(const Int* heads, int size, bool projective, bool single_root) {
    double roots = 0.0, bad = 0.0;
    for (int word = 1 + threadIdx.x; word < size; word += blockDim.x) {
        int head = (int)heads[word - 1], node = head, steps = 0;
        roots += head == 0;
        for (; node != 0 && steps < size; steps++) node = (int)heads[node - 1];
        if (node != 0) bad = 1.0;
        int low = word < head ? word : head, high = word < head ? head : word;
        for (int inner = low + 1; projective && inner < high; inner++)
            if (heads[inner - 1] < low || heads[inner - 1] > high) bad = 1.0;
    }
    roots = over_block<add>(roots);
    bad = over_block<larger>(bad);
    return bad == 0.0 && !(single_root && roots != 1.0);
}

// From the top of the chart down; one warp does it, `stack` has room for 3 * (2 * size + 2) numbers.
__device__ void follow(const Charts<Best, 0>& charts, int* stack, int depth, Int* heads) {
    while (depth > 0) {
        depth--;
        int chart = stack[3 * depth], i = stack[3 * depth + 1], j = stack[3 * depth + 2];
        __syncwarp();
        if (i == j) continue;
        int low, high, k;
        if (chart == RIGHT) {
            k = first_best(charts.beginning(ARC_RIGHT, i), charts.ending(RIGHT, j), i + 1, j + 1, 0);
            low = i, high = k;
        } else {
            k = first_best(charts.beginning(LEFT, i), charts.ending(ARC_LEFT, j), i, j, 0);
            low = k, high = j;
        }
        int split = first_best(charts.beginning(RIGHT, low), charts.ending(LEFT, high), low, high, 1);
        if (threadIdx.x == 0) {
            heads[k - 1] = chart == RIGHT ? i : j;
            int* next = stack + 3 * depth;
            next[0] = chart, next[1] = chart == RIGHT ? k : i, next[2] = chart == RIGHT ? j : k;
            next[3] = RIGHT, next[4] = low, next[5] = split;
            next[6] = LEFT, next[7] = split + 1, next[8] = high;
        }
        depth += 3;
        __syncwarp();
    }
}

// Scores of arcs, and the best head of each word, which are the best tree if they are a tree.
__device__ void best_heads(
    const double* scores, Int width, int size, double* arcs, Int* heads, int* verdict
) {
    double bad = 0.0, headless = 0.0;
    FOR_THREADS(cell, size * size) {
        int head = cell / size, modifier = cell % size;
        double score = scores[head * width + modifier];
        bool arc = modifier > 0 && head != modifier;
        if (arc && !(score == -infinity() || fabs(score) <= 1e300)) bad = 1.0;
        arcs[cell] = arc ? score : -infinity();
    }
    __syncthreads();
    for (int word = 1 + threadIdx.x; word < size; word += blockDim.x) {
        int best = 0;
        for (int head = 1; head < size; head++)
            if (arcs[head * size + word] > arcs[best * size + word]) best = head;
        heads[word - 1] = best;
        if (arcs[best * size + word] == -infinity()) headless = 1.0;
    }
    bad = over_block<larger>(bad);
    headless = over_block<larger>(headless);
    *verdict = bad > 0.0 ? BAD_SCORE : headless > 0.0 ? NO_TREE : FINE;
    __syncthreads();
}

extern "C" __global__ void best_projective(
    const double* all_scores, const Int* lengths, Int width, Int single_root, Int* all_heads, int* verdicts,
    double* scratch, Int room
) {
    Int b = blockIdx.x;
    int size = (int)lengths[b] + 1, verdict = BAD_LENGTH;
    Int* heads = all_heads + b * (width - 1);
    double* place = scratch + b * room;
    bool legal = size >= 2 && size <= width;
    double* arcs = take<double>(place, size * size);
    if (legal) best_heads(all_scores + b * width * width, width, size, arcs, heads, &verdict);
    if (verdict == FINE && !is_tree(heads, size, true, single_root != 0)) {
        __syncthreads();
        int* stack = (int*)take<double>(place, 3 * size + 3);
        Charts<Best, 0> charts(place, size);
        double best = inside<Best>(arcs, size, single_root != 0, charts);
        if (best == -infinity())
            verdict = NO_TREE;
        else if (threadIdx.x < 32) {
            int depth = 1, last = size - 1;
            if (single_root) {
                double top = -infinity();
                int root = 1;
                for (int k = 1; k < size; k++) {
                    double score = arcs[k] + charts.beginning(LEFT, 1)[k] + charts.ending(RIGHT, last)[k];
                    if (score > top) top = score, root = k;
                }
                depth = 2;
                if (threadIdx.x == 0) {
                    heads[root - 1] = 0;
                    stack[0] = LEFT, stack[1] = 1, stack[2] = root;
                    stack[3] = RIGHT, stack[4] = root, stack[5] = last;
                }
            } else if (threadIdx.x == 0) {
                stack[0] = RIGHT, stack[1] = 0, stack[2] = last;
            }
            __syncwarp();
            follow(charts, stack, depth, heads);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) verdicts[b] = verdict;
    for (int word = threadIdx.x; word < width - 1; word += blockDim.x)
        if (verdict != FINE || word >= size - 1) heads[word] = -1;
}

// The memory of best_arborescence: matrices of size * size each.
struct Contractions {
    double* work;
    int *chosen, *members, *enters, *leaves;  // a row per contraction, as in treebp/kernels/arborescence.py
    int *alive, *names, *mark, *final_heads;
    __device__ Contractions(double*& place, int size) {
        Int cells = (Int)size * size;
        work = take<double>(place, cells);
        chosen = (int*)take<double>(place, 2 * cells);
        members = chosen + cells, enters = members + cells, leaves = enters + cells;
        alive = (int*)take<double>(place, 2 * size);
        names = alive + size, mark = names + size, final_heads = mark + size;
    }
};

// A node on a cycle of the best heads, or -1.
__device__ int find_cycle(const int* best, const int* alive, int size, int* mark) {
    for (int k = 0; k < size; k++) mark[k] = 0;
    for (int start = 1; start < size; start++) {
        int node = start;
        while (node != 0 && alive[node] && mark[node] == 0) {
            mark[node] = start;
            node = best[node];
        }
        if (node != 0 && alive[node] && mark[node] == start) return node;
    }
    return -1;
}

// Open the cycles again and write the tree's heads; return its score.
__device__ double expand(const double* scores, int size, const Contractions& own, int contractions, Int* heads) {
    int* last = own.final_heads;
    for (int k = 0; k < size; k++) last[k] = own.chosen[contractions * size + k];
    for (int level = contractions - 1; level >= 0; level--) {
        int cycle = own.names[level], outer = last[cycle], entered = own.enters[level * size + outer];
        for (int node = 1; node < size; node++) {
            if (own.members[level * size + node])
                last[node] = own.chosen[level * size + node];
            else if (last[node] == cycle)
                last[node] = own.leaves[level * size + node];
        }
        last[entered] = outer;
    }
    double total = 0.0;
    for (int word = 1; word < size; word++) {
        heads[word - 1] = last[word];
        total += scores[last[word] * size + word];
    }
    return total;
}

// The best tree (Chu and Liu, 1965; Edmonds, 1967): its heads, and its score, -inf where there is none. If `root` is not
// zero, it is the only word below the root.
__device__ double best_arborescence(const double* scores, int size, int root, const Contractions& own, Int* heads) {
    __shared__ int start;
    __shared__ double total;
    FOR_CELLS(head, modifier, size) {
        int cell = head * size + modifier;
        own.work[cell] = root > 0 && head == 0 && modifier != root ? -infinity() : scores[cell];
        own.members[cell] = own.chosen[cell] = 0;
    }
    FOR_THREADS(node, size) own.alive[node] = 1;
    int contractions = 0;
    for (;; contractions++) {
        __syncthreads();
        int *best = own.chosen + contractions * size, *inner = own.members + contractions * size;
        double headless = 0.0;
        FOR_THREADS(modifier, size) {
            if (modifier == 0 || !own.alive[modifier]) continue;
            double top = -infinity();
            for (int head = 0; head < size; head++)
                if (own.alive[head] && head != modifier && own.work[head * size + modifier] > top) {
                    top = own.work[head * size + modifier];
                    best[modifier] = head;
                }
            if (top == -infinity()) headless = 1.0;
        }
        if (over_block<larger>(headless) > 0.0) return -infinity();
        __syncthreads();
        if (threadIdx.x == 0) {
            start = find_cycle(best, own.alive, size, own.mark);
            for (int node = start; node >= 0 && !inner[node]; node = best[node]) inner[node] = 1;
        }
        __syncthreads();
        int cycle = start;
        if (cycle < 0) break;
        FOR_THREADS(other, size) {
            if (!own.alive[other] || inner[other]) continue;
            double gain = -infinity(), out = -infinity();
            int enter = cycle, leave = cycle;
            for (int node = 1; node < size; node++) {
                if (!inner[node]) continue;
                double entering = own.work[other * size + node] - own.work[best[node] * size + node];
                if (entering > gain) gain = entering, enter = node;
                if (own.work[node * size + other] > out) out = own.work[node * size + other], leave = node;
            }
            own.enters[contractions * size + other] = enter;
            own.leaves[contractions * size + other] = leave;
            own.work[other * size + cycle] = gain;
            own.work[cycle * size + other] = out;
        }
        __syncthreads();
        FOR_THREADS(node, size) if (node > 0 && inner[node] && node != cycle) own.alive[node] = 0;
        if (threadIdx.x == 0) own.names[contractions] = cycle;
    }
    if (threadIdx.x == 0) total = expand(scores, size, own, contractions, heads);
    __syncthreads();
    double score = total;
    __syncthreads();
    return score;
}

extern "C" __global__ void best_spanning(
    const double* all_scores, const Int* lengths, Int width, Int single_root, Int* all_heads, int* verdicts,
    double* scratch, Int room
) {
    Int b = blockIdx.x;
    int size = (int)lengths[b] + 1, verdict = BAD_LENGTH;
    Int* heads = all_heads + b * (width - 1);
    double* place = scratch + b * room;
    bool legal = size >= 2 && size <= width;
    double* arcs = take<double>(place, size * size);
    if (legal) best_heads(all_scores + b * width * width, width, size, arcs, heads, &verdict);
    if (verdict == FINE && !is_tree(heads, size, false, single_root != 0)) {
        __syncthreads();
        Contractions own(place, size);
        Int* trial = (Int*)take<double>(place, size);
        double best = -infinity();
        for (int root = single_root ? 1 : 0; root < (single_root ? size : 1); root++) {
            if (arcs[root] == -infinity() && single_root) continue;
            double score = best_arborescence(arcs, size, root, own, trial);
            if (score > best) {
                best = score;
                for (int word = threadIdx.x; word < size - 1; word += blockDim.x) heads[word] = trial[word];
            }
            __syncthreads();
        }
        if (best == -infinity()) verdict = NO_TREE;
    }
    __syncthreads();
    if (threadIdx.x == 0) verdicts[b] = verdict;
    for (int word = threadIdx.x; word < width - 1; word += blockDim.x)
        if (verdict != FINE || word >= size - 1) heads[word] = -1;
}

// Whether heads are trees of a kind: 1 if so, 0 if not, -1 for a head out of range or a word that heads itself. A block
// has a tree; each sentence has `trees` of them, whose heads beyond its words are not looked at.
extern "C" __global__ void legal_trees(
    const Int* all_heads, const Int* lengths, Int trees, Int words, Int projective, Int single_root, int* out
) {
    const Int* heads = all_heads + (Int)blockIdx.x * words;
    Int length = lengths[blockIdx.x / trees];
    double bad = length < 1 || length > words ? 1.0 : 0.0;
    for (Int word = 1 + threadIdx.x; bad == 0.0 && word <= length; word += blockDim.x)
        if (heads[word - 1] < 0 || heads[word - 1] > length || heads[word - 1] == word) bad = 1.0;
    bad = over_block<larger>(bad);
    bool legal = bad == 0.0 && is_tree(heads, (int)length + 1, projective != 0, single_root != 0);
    if (threadIdx.x == 0) out[blockIdx.x] = bad > 0.0 ? -1 : legal;
}
