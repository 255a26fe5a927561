int FuzzingReplay(void);

// libFuzzer brings a main of its own, which takes the place of this one where it is linked.
__attribute__((weak)) int main(void) { return FuzzingReplay(); }
