interface Split {
  /** The first 8 characters of the request's id. Undefined if the answer names no request. */
  about: string | undefined
  words: string
}

/** Separates which request an answer to a click is about from what the answer says. */
export function splitSubject(text: string): Split {
  const named = /^(?:\*.+?\* {2}· {2}<https:[^|>]+\|request (?<about>\w{8})>|\*Unverified request (?<about>\w{8})\*)\s/.exec(text)
  return { about: named?.groups?.about, words: text.slice(named?.[0].length ?? 0) }
}

/** Returns what an answer to a click says, without which request it is about. */
export function wordsOf({ text }: { text: string }): string {
  return splitSubject(text).words
}

/** Returns the words of a view. */
export function wordsIn(view: Record<string, unknown>): string {
  const blocks = view.blocks as { text?: { text: string } }[]
  return blocks.map(({ text }) => text?.text ?? '').join(' ')
}
