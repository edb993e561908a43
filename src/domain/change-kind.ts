/**
 * The name of a kind of change, such as `ip.move`. It is a plain string, because only the features know which kinds there are: what is below them
 * takes the kinds as an argument, and treats them all alike.
 */
export type ChangeKind = string
