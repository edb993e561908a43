/** Returns the target of a link to a message of this workspace: `https://<team>.slack.com/archives/<channel>/p<ts without its dot>`. */
export function placeOf(href: string): { channel: string; ts: string; threadTs: string | undefined } | undefined {
  const url = URL.canParse(href) ? new URL(href) : undefined
  const [, channel, seconds, micros] = /^\/archives\/(\w+)\/p(\d+)(\d{6})$/.exec(url?.pathname ?? '') ?? []
  if (!url?.hostname.endsWith('.slack.com') || !channel) return undefined
  return { channel, ts: `${seconds}.${micros}`, threadTs: url.searchParams.get('thread_ts') ?? undefined }
}

/** Highlights a message on the page for a few seconds. */
export function pointAt(ts: string) {
  const message = document.querySelector<HTMLElement>(`.messages [data-ts="${CSS.escape(ts)}"]`)
  if (!message) return
  message.scrollIntoView({ block: 'center' })
  message.classList.add('is-pointed-at')
  setTimeout(() => message.classList.remove('is-pointed-at'), 2_500)
}
