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

// The graph of best_arborescence, some of whose cycles have become nodes: see treebp/kernels/arborescence.py.
struct Contracted {
    int size;
    double *work, *enters;
    int *heads, *modifiers;                    // a matrix each
    int *alive, *best, *names, *walk;          // a number for each row
    int *members, *inside;                     // of the cycle that is being contracted
    int *parents, *arc_heads, *arc_modifiers;  // two numbers for each row
    __device__ Contracted(double*& place, int size) : size(size) {
        Int cells = (Int)size * size;
        work = take<double>(place, cells);
        enters = take<double>(place, size);
        heads = (int*)take<double>(place, cells);
        modifiers = heads + cells;
        alive = (int*)take<double>(place, 6 * size);
        best = alive + size, names = best + size, walk = names + size, members = walk + size, inside = members + size;
        parents = inside + size, arc_heads = parents + 2 * size, arc_modifiers = arc_heads + 2 * size;
    }
};

// The row of a node's best head, -1 if there is none; among equals, the first. Every thread of the block gets it.
__device__ int best_head(const Contracted& graph, int row, bool single_root) {
    const double* work = graph.work + row * graph.size;
    double top = -infinity();
    int place = 0;
    FOR_THREADS(head, graph.size) {
        if (work[head] > top && graph.alive[head] && head != row && !(single_root && head == 0))
            top = work[head], place = head;
    }
    double best = over_block<larger>(top);
    if (best == -infinity()) return work[0] > -infinity() ? 0 : -1;
    return -(int)over_block<larger>(top == best ? -(double)place : -infinity());
}

// Put the cycle that a row is in, as a new node, into that row, where no walk has been yet.
__device__ void contract(const Contracted& graph, int row, int node) {
    __shared__ int count;
    int size = graph.size;
    FOR_THREADS(other, size) graph.inside[other] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        count = 0;
        for (int member = row; !graph.inside[member]; member = graph.best[member]) {
            graph.inside[member] = 1;
            graph.members[count++] = member;
            graph.parents[graph.names[member]] = node;
        }
    }
    __syncthreads();
    FOR_THREADS(other, size) {
        double enter = -infinity();
        for (int k = 0; k < count; k++) {
            int member = graph.members[k], cell = member * size + other;
            double gain = graph.work[cell] - graph.work[member * size + graph.best[member]];
            if (gain > enter) {
                enter = gain;
                graph.heads[row * size + other] = graph.heads[cell];
                graph.modifiers[row * size + other] = graph.modifiers[cell];
            }
        }
        graph.enters[other] = enter;
    }
    __syncthreads();
    FOR_THREADS(other, size) {
        graph.work[row * size + other] = graph.enters[other];
        if (other == 0 || graph.inside[other] || !graph.alive[other]) continue;
        int leave = other * size + row;
        for (int k = 1; k < count; k++)
            if (graph.work[other * size + graph.members[k]] > graph.work[leave]) leave = other * size + graph.members[k];
        graph.work[other * size + row] = graph.work[leave];
        graph.heads[other * size + row] = graph.heads[leave];
        graph.modifiers[other * size + row] = graph.modifiers[leave];
        if (graph.inside[graph.best[other]]) graph.best[other] = row;
    }
    __syncthreads();
    for (int k = 1 + threadIdx.x; k < count; k += blockDim.x) graph.alive[graph.members[k]] = 0;
    if (threadIdx.x == 0) graph.names[row] = node, graph.walk[row] = 0;
    __syncthreads();
}

// Open the cycles again, write the tree's heads, and return whether it is as wanted; one thread does it.
__device__ bool open_cycles(const Contracted& graph, int nodes, bool single_root, Int* heads) {
    int size = graph.size, roots = 0;
    for (int node = nodes - 1; node >= size; node--) {
        int entered = graph.arc_modifiers[node];
        while (graph.parents[entered] != node) entered = graph.parents[entered];
        graph.arc_heads[entered] = graph.arc_heads[node], graph.arc_modifiers[entered] = graph.arc_modifiers[node];
    }
    for (int word = 1; word < size; word++) {
        heads[word - 1] = graph.arc_heads[word];
        roots += graph.arc_heads[word] == 0;
    }
    return !single_root || roots == 1;
}

// Write the heads of the best tree (Chu and Liu, 1965; Edmonds, 1967; Tarjan, 1977); return whether there is one.
__device__ bool best_arborescence(const double* arcs, int size, bool single_root, const Contracted& graph, Int* heads) {
    __shared__ int found;
    FOR_CELLS(head, modifier, size) {
        int cell = modifier * size + head;
        graph.work[cell] = arcs[head * size + modifier];
        graph.heads[cell] = head, graph.modifiers[cell] = modifier;
    }
    FOR_THREADS(row, size) {
        graph.alive[row] = 1, graph.best[row] = 0, graph.names[row] = row, graph.walk[row] = row == 0 ? size : 0;
        graph.parents[row] = graph.parents[size + row] = -1;
    }
    __syncthreads();
    int nodes = size;
    for (int start = 1; start < size; start++) {
        int row = start;
        while (graph.walk[row] == 0) {
            int head = best_head(graph, row, single_root);
            if (head < 0) return false;
            if (threadIdx.x == 0) {
                int name = graph.names[row];
                graph.walk[row] = start, graph.best[row] = head;
                graph.arc_heads[name] = graph.heads[row * size + head];
                graph.arc_modifiers[name] = graph.modifiers[row * size + head];
            }
            __syncthreads();
            row = head;
            if (graph.walk[row] == start) contract(graph, row, nodes++);
        }
    }
    if (threadIdx.x == 0) found = open_cycles(graph, nodes, single_root, heads);
    __syncthreads();
    return found;
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
        Contracted graph(place, size);
        if (!best_arborescence(arcs, size, single_root != 0, graph, heads)) verdict = NO_TREE;
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
