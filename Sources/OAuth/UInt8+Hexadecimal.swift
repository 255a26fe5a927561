extension UInt8 {
    /// The value of the hexadecimal digit that this byte is in ASCII.
    package var hexadecimal: UInt8? { Character(Unicode.Scalar(self)).hexDigitValue.map(UInt8.init) }
}
