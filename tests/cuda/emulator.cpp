// Runs CUDA kernels on the CPU: the threads of a block are fibers that take turns, in an order drawn anew at every
// barrier, so that a barrier which is missing shows. Compiled together with one of the package's sources.
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

using std::exp; using std::fabs; using std::fmax; using std::fmin; using std::isnan; using std::log; using std::log1p;
using std::max; using std::min;

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)

struct Index { unsigned x; };
static Index threadIdx, blockIdx, blockDim, gridDim;

struct Barrier { unsigned arrived = 0, generation = 0; };
static struct {
    std::vector<ucontext_t> fibers;
    std::vector<char> done, stacks;
    std::vector<int> order;
    std::vector<Barrier> warps;
    Barrier block;
    ucontext_t scheduler;
    std::vector<std::int64_t> exchange;
    std::uint64_t state;
    void (*kernel)(...);
    const std::int64_t* arguments;
} machine;

static void pass_on() {
    unsigned own = threadIdx.x;
    swapcontext(&machine.fibers[own], &machine.scheduler);
    threadIdx.x = own;
}

static void wait(Barrier& barrier, unsigned threads) {
    unsigned generation = barrier.generation;
    if (++barrier.arrived == threads) {
        barrier.arrived = 0;
        barrier.generation++;
    }
    while (barrier.generation == generation) pass_on();
}

static void __syncthreads() { wait(machine.block, blockDim.x); }
static void __syncwarp() { wait(machine.warps[threadIdx.x / 32], 32); }

template <class V> static V __shfl_xor_sync(unsigned, V value, int offset) {
    std::memcpy(&machine.exchange[threadIdx.x], &value, sizeof value);
    __syncwarp();
    std::memcpy(&value, &machine.exchange[threadIdx.x ^ offset], sizeof value);
    __syncwarp();
    return value;
}

static int __clz(int value) { return value ? __builtin_clz(value) : 32; }

static double __longlong_as_double(long long bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class V> static V atomic_choice(V* place, V value, bool better) {
    V old = *place;
    if (better) *place = value;
    return old;
}
template <class V> static V atomicMax(V* place, V value) { return atomic_choice(place, value, value > *place); }
template <class V> static V atomicMin(V* place, V value) { return atomic_choice(place, value, value < *place); }

#include SOURCE

static void run_fiber(unsigned own) {
    threadIdx.x = own;
    const std::int64_t* a = machine.arguments;
    ((void (*)(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
        std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
        std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
        std::int64_t))machine.kernel)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
        a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
    machine.done[own] = 1;
}

extern "C" void emulate(void* kernel, std::int64_t grid, std::int64_t block, const std::int64_t* arguments) {
    const std::size_t stack = 1 << 17;
    machine.kernel = (void (*)(...))kernel;
    machine.arguments = arguments;
    machine.state = machine.state * 6364136223846793005u + 1442695040888963407u;
    gridDim.x = grid;
    blockDim.x = block;
    machine.fibers.resize(block);
    machine.stacks.resize(block * stack);
    machine.exchange.resize(block);
    machine.order.resize(block);
    for (int k = 0; k < block; k++) machine.order[k] = k;
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) {
        machine.done.assign(block, 0);
        machine.warps.assign(block / 32, Barrier());
        machine.block = Barrier();
        for (unsigned k = 0; k < block; k++) {
            getcontext(&machine.fibers[k]);
            machine.fibers[k].uc_stack.ss_sp = &machine.stacks[k * stack];
            machine.fibers[k].uc_stack.ss_size = stack;
            machine.fibers[k].uc_link = &machine.scheduler;
            makecontext(&machine.fibers[k], (void (*)())run_fiber, 1, k);
        }
        for (unsigned finished = 0; finished < block;) {
            for (int k = block - 1; k > 0; k--) {  // a new order
                machine.state = machine.state * 6364136223846793005u + 1442695040888963407u;
                std::swap(machine.order[k], machine.order[(machine.state >> 33) % (k + 1)]);
            }
            for (int k : machine.order) {
                if (machine.done[k]) continue;
                threadIdx.x = k;
                swapcontext(&machine.scheduler, &machine.fibers[k]);
                finished += machine.done[k];
            }
        }
    }
}
