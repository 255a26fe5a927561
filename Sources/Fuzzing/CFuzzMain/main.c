int FuzzingReplay(void);

// libFuzzer has its own main, which replaces this one when it is linked.
__attribute__((weak)) int main(void) { return FuzzingReplay(); }
