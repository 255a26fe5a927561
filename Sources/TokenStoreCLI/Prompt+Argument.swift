public import ArgumentParser
public import SignIn

extension Prompt: ExpressibleByArgument {}
extension ResponseMode: ExpressibleByArgument {}
