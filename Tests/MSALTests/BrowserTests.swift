import TestTraits
import Testing

/// Tests with an interactive sign-in, one at a time: a cancellation is for every sign-in of the process.
@Suite(.serialized, .onWaitingThreads)
struct BrowserTests {}
