import type { Issued } from '../domain/change.ts'
import { certainlyNotApplied, StoreUnavailableError, UserError } from '../domain/errors.ts'
import type { Request } from '../domain/request.ts'
import type { Timings } from '../domain/timings.ts'
import { Refusal, toUserMessage, toUserWords } from '../slack/errors.ts'
import type { Click } from '../slack/interaction.ts'
import { notice } from '../slack/notice.ts'
import type { ShowSecret } from '../slack/show-secret.ts'
import { mrkdwn } from '../slack/text.ts'
import type { Access } from './access.ts'
import { notYoursToTake, tooLate } from './answers.ts'
import type { Attend } from './attend.ts'
import type { Audit } from './audit.ts'
import type { Catalog, Opened } from './catalog.ts'
import { answerOf, listenForAnswer } from './heard-answer.ts'
import { noteShown, type TakenBackFrom } from './note-shown.ts'
import type { Wake } from './queues.ts'
import { noteOf, type Store } from './store.ts'

const preflightMs = 5_000

const tookTooLong = mrkdwn`It took too long until you were shown this, so I make it worthless: do not use it. The thread tells when that is done; ask for it again then.`

const notNoted = mrkdwn`I cannot reach my memory (Redis), and do not know whether I noted that you were shown this. If I did not, it is made worthless: do not use it unless the thread says that it is done.`

interface HandOverParts {
  store: Store
  access: Access
  audit: Pick<Audit, 'note'>
  catalog: Catalog
  showSecret: ShowSecret
  show: Attend['showEverything']
  onApiError: (error: unknown) => void
  onError: (error: unknown) => void
  timings: Timings
  wake: Wake
}

interface Claim {
  facts: unknown
  /** Before the claim, in ms of `performance.now()`. */
  startedAt: number
  takenBackFrom: TakenBackFrom
}

/**
 * Makes what was approved and shows it to the person who asked, in answer to their click. Whatever goes wrong after the write ends
 * with the secret worthless: a secret that nobody has seen must not stay valid, and is never kept to be shown later.
 */
export function createHandOver({ store, access, audit, catalog, showSecret, show, onApiError, onError, timings, wake }: HandOverParts) {
  return async function handOver(request: Request, click: Click): Promise<void> {
    const opened = catalog.open(request)
    const rule = await access.authorize(click.origin, { to: 'own', request, otherwise: notYoursToTake(request).text })
    if (request.state !== 'approved' || !opened.change.handover) throw new Refusal(tooLate(request, click.origin.userId))
    const facts = await lookAgain(request, opened)

    const startedAt = performance.now()
    const takenBackFrom = { byRedis: (await store.now()) + timings.handoverMs, here: startedAt + timings.handoverMs }
    const claimed = await store.transition(request, {
      name: 'send',
      from: ['approved'],
      to: 'starting',
      set: { seen: facts },
      stamp: ['sentAt'],
      unexpired: true,
      dueInMs: timings.handoverMs,
      audit: { by: click.origin.userId, rule },
    })
    if (claimed.outcome !== 'won') {
      const now = await store.find(request.id)
      throw new Refusal(tooLate(now ?? { ...request, state: 'expired' }, click.origin.userId))
    }
    // Should this process end before it has shown what it issues, somebody takes it back.
    await wake(request.id, timings.handoverMs)
    await issueAndShow(request, opened, { facts, startedAt, takenBackFrom }, click)
    await show(request.id)
  }

  /** The preflight once more. Throws, in words for who clicked; where the account has changed the request is void. */
  async function lookAgain(request: Request, { change, input, facts }: Opened): Promise<unknown> {
    const now = await change.preflight(input, { signal: AbortSignal.timeout(preflightMs) }).catch(async (error: unknown) => {
      if (error instanceof UserError) await voidRequest(request, error.message)
      throw error
    })
    if (now.incomplete)
      throw new UserError('The account API does not answer just now, so nothing was made. Press the button again in a minute.')
    const differences = change.differences(facts, now.facts)
    if (differences.length === 0) return now.facts
    await voidRequest(request, differences.join(' '))
    throw new UserError(`Nothing was made, because the account has changed since this was asked for. ${differences.join(' ')}`)
  }

  async function voidRequest(request: Request, why: string): Promise<void> {
    await store.transition(request, { name: 'void', from: ['approved'], to: 'void', set: { why }, stamp: ['endedAt'], reports: ['ended'] })
    await show(request.id)
  }

  async function issueAndShow(request: Request, { change, input }: Opened, claim: Claim, click: Click): Promise<void> {
    const { facts, startedAt, takenBackFrom } = claim
    const heard = listenForAnswer()
    const issued = await issue(request, () => change.handover?.issue(input, facts, { onAnswer: heard.onAnswer }), click)
    if (!issued) return
    const inTime = performance.now() - startedAt < timings.handoverMs / 2
    const words = { heading: mrkdwn`*${issued.heading}*`, note: mrkdwn`${issued.note}` }
    const place = { responseUrl: click.responseUrl, channelId: click.origin.channelId, userId: click.origin.userId }
    const shown = inTime ? await showSecret(place, words, issued.secret) : 'undelivered'
    if (shown === 'shown') {
      const result = `${heard.words()} (${issued.id}), shown to the person who asked`
      return endShown(request, result, takenBackFrom, click)
    }
    await takeBack(request, issued, () => change.handover?.retract(issued), click)
  }

  /** Whoever was shown it is told where it does not stay, or may not. */
  async function endShown(request: Request, result: string, takenBackFrom: TakenBackFrom, click: Click): Promise<void> {
    try {
      const noted = await noteShown(store, request, result, takenBackFrom)
      if (noted === 'too-late') await click.answer.whisper(notice(tookTooLong))
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      onError(error)
      await click.answer.whisper(notice(notNoted))
    }
  }

  /** The write. Undefined when there is nothing to show; then the record and the person are told. */
  async function issue(request: Request, write: () => Promise<Issued> | undefined, click: Click): Promise<Issued | undefined> {
    try {
      return await write()
    } catch (error) {
      onApiError(error)
      await audit.note(noteOf(request, 'answer', { result: answerOf(error) }))
      if (!certainlyNotApplied(error)) {
        const words = mrkdwn`The account API did not confirm it, so I do not know whether it was made. I look for it, make it worthless if it is there, and tell you in the thread. Nothing that nobody has seen stays valid.`
        await click.answer.whisper(notice(words))
        return undefined
      }
      const why = `${toUserMessage(error) ?? 'The account API refused.'} Nothing was made.`
      await store.transition(request, {
        name: 'end',
        from: ['starting'],
        to: 'failed',
        set: { why },
        stamp: ['endedAt'],
        reports: ['ended'],
      })
      const words = toUserWords(error)
      if (words) await click.answer.whisper(notice(mrkdwn`${words} Nothing was made.`))
      return undefined
    }
  }

  async function takeBack(request: Request, issued: Issued, retract: () => Promise<void> | undefined, click: Click): Promise<void> {
    try {
      await retract()
    } catch (error) {
      // The due set comes back to it: `observe` finds what was issued and takes it back.
      onApiError(error)
      return
    }
    const why = `It was made (${issued.id}), but Slack did not take the message that shows it, so I deleted it at once: nobody has seen its token.`
    await store.transition(request, { name: 'end', from: ['starting'], to: 'failed', set: { why }, stamp: ['endedAt'], reports: ['ended'] })
    await click.answer.whisper(notice(mrkdwn`${why} Ask for it again.`))
  }
}
export type HandOver = ReturnType<typeof createHandOver>
