import { cancelQuestion } from './forms.ts'
import { channelHere, goTo, openViews, page, tabHere } from './page.ts'

interface Target {
  channel: string
  ts: string
  threadTs?: string | undefined
}

/** Goes to a message and highlights it for a moment. An open form is set aside meanwhile, because it covers the message. */
export function showMessage({ channel, ts, threadTs }: Target) {
  cancelQuestion()
  page.isFormAside = openViews().length > 0
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

/** Opens links to messages of this workspace on the page, because there is no Slack behind them. */
export function followMessageLinks() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const target = link && targetOf(new URL(link.href))
    if (!target) return
    event.preventDefault()
    showMessage(target)
  })
}

/** Reads `https://<team>.slack.com/archives/<channel>/p<ts without its dot>`. */
function targetOf({ hostname, pathname, searchParams }: URL): Target | undefined {
  const [, channel, seconds, micros] = /^\/archives\/(\w+)\/p(\d+)(\d{6})$/.exec(pathname) ?? []
  if (!hostname.endsWith('.slack.com') || !channel) return undefined
  return { channel, ts: `${seconds}.${micros}`, threadTs: searchParams.get('thread_ts') ?? undefined }
}
