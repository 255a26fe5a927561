public import ArgumentParser
public import TokenStorage

extension AccountOrder: ExpressibleByArgument {}
