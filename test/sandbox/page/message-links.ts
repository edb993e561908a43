import { channelHere, goTo, page, tabHere } from './page.ts'

interface Target {
  channel: string
  ts: string
  threadTs?: string | undefined
}

/** Goes to a message and highlights it for a moment. */
export function showMessage({ channel, ts, threadTs }: Target) {
  const isElsewhere = tabHere() !== undefined || channel !== channelHere().id
  const place = page.workspace.channels.some(({ id }) => id === channel) ? channel : 'messages'
  goTo({ ...(isElsewhere && { place }), thread: threadTs ?? (isElsewhere ? undefined : page.thread) })
  setTimeout(() => pointAt(threadTs ?? ts), 100)
}

function pointAt(ts: string) {
  const message = document.querySelector(`.messages [data-ts="${CSS.escape(ts)}"]`)
  message?.scrollIntoView({ block: 'center' })
  message?.classList.add('is-pointed-at')
  setTimeout(() => message?.classList.remove('is-pointed-at'), 2_500)
}

/** Opens links to messages of this workspace on the page, because there is no Slack behind them. A form covers the page, and so needs another one. */
export function followMessageLinks() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const target = link && targetOf(new URL(link.href))
    if (!link || !target) return
    event.preventDefault()
    const { channel, ts, threadTs = ts } = target
    if (link.closest('dialog')) window.open(`?${new URLSearchParams({ as: page.me.id, channel, thread: threadTs })}`)
    else showMessage(target)
  })
}

/** Reads `https://<team>.slack.com/archives/<channel>/p<ts without its dot>`. */
function targetOf({ hostname, pathname, searchParams }: URL): Target | undefined {
  const [, channel, seconds, micros] = /^\/archives\/(\w+)\/p(\d+)(\d{6})$/.exec(pathname) ?? []
  if (!hostname.endsWith('.slack.com') || !channel) return undefined
  return { channel, ts: `${seconds}.${micros}`, threadTs: searchParams.get('thread_ts') ?? undefined }
}
