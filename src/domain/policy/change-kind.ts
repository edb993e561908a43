/**
 * The name of a kind of change, such as `ip.move`. It is a plain string, because only the features know the kinds. The code below the
 * features receives the kinds as an argument and treats them all alike.
 */
export type ChangeKind = string
