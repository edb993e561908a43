import type { Request } from '../../src/domain/request.ts'
import { buttonValue, cardButtons } from '../../src/messages/button-ids.ts'
import { observeHandlers } from '../journeys/handlers.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { cardOf, openRecords } from '../journeys/records.ts'
import { splitSubject, wordsIn } from '../journeys/subject.ts'
import { ops, startWorld } from '../journeys/world.ts'
import type { Json } from '../sandbox/slack/json.ts'
import type { Message, OpenView } from '../sandbox/slack/slack.ts'
import { meaningAbout, meaningOf, meaningOfView } from './answers.ts'
import { startReplicas } from './replicas.ts'
import type { Answer, Button, Forgery, ModelRequest } from './request-model.ts'
import { guest, ids, type Name, names, policy, settle, stranger } from './staff.ts'

export interface Press {
  person: Name
  button: Button
  forged?: Forgery | undefined
  replica: number
  /** Slack delivers it once more, to the other replica. */
  again?: boolean
}

export interface OpenForm {
  person: Name
  view: OpenView
  answer: Answer
}

/** What commands do with the real bots. */
export type Session = Awaited<ReturnType<typeof startSession>>

/**
 * Starts two replicas of the real bot that can lose an answer of Redis or crash, the staff, two Elastic IPs and two machines. Moves end
 * when a command says so.
 */
export async function startSession() {
  const world = await startWorld({
    replicas: 0,
    // An unconfirmed write without an effect is reported as not started after a second instead of a minute.
    timings: { graceMs: 1_000, unsettledMs: 1_000, handoverMs: 1_500 },
    account: { moveTakes: { min: 3_600_000, max: 3_600_000 } },
    env: { POLICY_FILE: policyInFile(policy) },
  })
  const { slack, accountApi } = world
  settle(slack)
  const records = openRecords(world)
  const { observe, handled } = observeHandlers()
  const replicas = await startReplicas(world, observe)
  const decoy = await records.post(ops, [])
  const pairs = [0, 4].map((skip) => accountApi.world.movable(skip))
  const machines = accountApi.world.data.virtualMachines.slice(0, 2)

  function talkTo(replica: number): void {
    slack.connectBot(replicas.slackUrl(replica))
  }

  /** Returns the change that can be requested for the resource with this number: to the other server, or to the other name. */
  function possibleChange(kind: ModelRequest['kind'], number: number): { resource: string; words: string; isPossible: boolean } {
    if (kind === 'ip.move') {
      const { elasticIp, target } = pairs[number % pairs.length] ?? accountApi.world.movable()
      const now = accountApi.world.elasticIp(elasticIp.id)
      const to = now?.serverId === target.id ? elasticIp.serverId : target.id
      return { resource: `elastic_ip:${elasticIp.id}`, words: `ip move ${elasticIp.id} ${to}`, isPossible: now?.status === 'active' }
    }
    const machine = machines[number % machines.length]
    const now = accountApi.world.virtualMachine(machine?.id ?? '')
    const name = now?.name === 'renamed-by-model' ? 'named-by-model' : 'renamed-by-model'
    return { resource: `virtual_machine:${machine?.id}`, words: `vm rename ${machine?.id} ${name}`, isPossible: true }
  }

  function isStillPossible({ resource, input }: Request): boolean {
    const id = resource.split(':')[1] ?? ''
    const { serverId, name } = input as { serverId?: string; name?: string }
    const elasticIp = accountApi.world.elasticIp(id)
    if (elasticIp) return elasticIp.status === 'active' && elasticIp.serverId !== serverId
    return accountApi.world.virtualMachine(id)?.name !== name
  }

  /** Submits the form of *Request again* unchanged. Returns whether it was accepted. */
  async function submitAgain({ person, view }: OpenForm, replica: number): Promise<boolean> {
    const hands = slack.as(ids[person])
    talkTo(replica)
    const { outcome } = await hands.submit(view)
    if (outcome !== 'acknowledged') throw new Error(`the form of ${person} was not acknowledged: ${outcome}`)
    const left = hands.openViews()
    for (const one of left) await hands.close(one)
    return left.length === 0
  }

  function takeWords(person: Name): string[] {
    const ephemerals = slack.ephemerals(ids[person])
    for (const { channel, ts } of ephemerals) slack.removeMessage(channel, ts)
    return ephemerals.map(({ text }) => text).filter((text) => !interim(text))
  }

  /** Waits for this many refusals, as messages or in place of these forms. A served click was answered before its handler ended. */
  async function untilRefused(person: Name, count: number, viewIds: string[]): Promise<void> {
    const said = () =>
      slack.ephemerals(ids[person]).filter(({ text }) => !interim(text) && !splitSubject(text).words.startsWith('Approved ('))
    const shown = () => viewIds.filter((viewId) => lastShownIn(viewId).title === 'Not possible')
    await slack.until(() => said().length + shown().length >= count, { what: `${count} refusals to ${person}` })
  }

  /** Requests with the command. Returns the answer, empty if the card is all of it, or undefined if Slack does not deliver the command. */
  async function requestChange(person: Name, text: string, replica: number): Promise<string | undefined> {
    talkTo(replica)
    const { outcome, payload } = await slack.as(ids[person]).command(`/infra ${text}`, { channel: ops })
    if (outcome === 'not-sent') return undefined
    if (outcome !== 'acknowledged') throw new Error(`the command of ${person} was not acknowledged: ${outcome}`)
    const isAnswered = () => slack.ephemerals(ids[person]).some(({ text: said }) => !interim(said))
    const answered = slack.until(isAnswered, { what: `an answer to ${person}`, timeoutMs: 20_000 })
    const served = handled(String(payload.trigger_id))
    // Guests get an answer before the command runs.
    if ((await Promise.race([served, answered])) === 'refused') await answered
    answered.catch(() => {})
    const words = takeWords(person)
    if (words.length > 1) throw new Error(`${person} was answered ${words.length} times: ${words.join(' / ')}`)
    return words[0] ?? ''
  }

  function cardFor(request: Request, forged: Forgery | undefined): Message {
    if (forged === 'hash') return cardOf(request, { value: buttonValue({ ...request, hash: '0'.repeat(64) }) })
    if (forged === 'id') return cardOf(request, { value: buttonValue({ ...request, id: '0'.repeat(32) }) })
    return forged === 'copy' ? cardOf(request, { ts: decoy }) : cardOf(request)
  }

  /** Delivers one press to its replica at once. Resolves when its handler has ended. */
  async function pressOne(request: Request, { person, button, forged, replica, again }: Press) {
    const hands = slack.as(ids[person])
    talkTo(replica)
    const delivery = await hands.click(cardFor(request, forged), cardButtons[button])
    if (delivery.outcome !== 'acknowledged') throw new Error(`a click of ${person} was not acknowledged: ${delivery.outcome}`)
    if (again) {
      talkTo(replica + 1)
      const repeated = await hands.redeliver(delivery)
      if (repeated.outcome !== 'acknowledged') throw new Error(`a repeated click of ${person} was not acknowledged: ${repeated.outcome}`)
    }
    const triggerId = String(delivery.payload.trigger_id)
    const outcome = person === guest || person === stranger ? 'refused' : await handled(triggerId)
    return { person, outcome, viewId: viewOpenedBy(triggerId) }
  }

  /** A second modal replaces the first one, so the opened view is read from what the bots sent. */
  function viewOpenedBy(triggerId: string): string | undefined {
    const opened = slack.calls('views.open').find(({ args, result }) => args.trigger_id === triggerId && result.ok)
    return (opened?.result.view as { id: string } | undefined)?.id
  }

  function lastShownIn(viewId: string): { title: string; view: Json } {
    const [opened, ...updated] = slack.journal.filter(
      ({ method, args, result }) =>
        (method === 'views.open' && (result.view as Json | undefined)?.id === viewId) ||
        (method === 'views.update' && args.view_id === viewId),
    )
    const view = (updated.at(-1) ?? opened)?.args.view as Json
    return { title: (view.title as { text: string }).text, view }
  }

  /** Presses all of these at the same moment, and waits for everything that follows. */
  async function press(request: Request, presses: Press[]): Promise<{ answers: Record<string, Answer[]>; forms: OpenForm[] }> {
    const outcomes = await Promise.all(presses.map((one) => pressOne(request, one)))
    const answers: Record<string, Answer[]> = {}
    const forms: OpenForm[] = []
    for (const person of new Set(presses.map((one) => one.person))) {
      const own = outcomes.filter((one) => one.person === person)
      const views = own.flatMap(({ viewId }) => viewId ?? [])
      await untilRefused(person, own.filter(({ outcome }) => outcome === 'refused').length, views)
      answers[person] = [
        ...takeWords(person).map((text) => meaningAbout(request, text)),
        ...views.map((viewId) => meaningOfView(lastShownIn(viewId))),
      ]
      const hands = slack.as(ids[person])
      for (const view of hands.openViews()) {
        if (view.title === 'Not possible') await hands.close(view)
        else forms.push({ person, view, answer: meaningOfView(view) })
      }
    }
    return { answers, forms }
  }

  /** Submits forms at the same moment. A message replaces the form; without one the submission took effect. */
  async function submit(forms: OpenForm[]): Promise<Record<string, Answer[]>> {
    const answers: Record<string, Answer[]> = {}
    for (const { person, view, answer } of forms) {
      const filled = { Reason: answer === 'form:reject' ? 'Not now' : 'It cannot wait' }
      await slack.as(ids[person]).fill(view, filled)
    }
    await Promise.all(
      forms.map(async ({ person, view }, index) => {
        const hands = slack.as(ids[person])
        talkTo(index)
        const { outcome, errors } = await hands.submit(view)
        if (outcome !== 'acknowledged' || errors) throw new Error(`a form of ${person} was not taken: ${outcome} ${JSON.stringify(errors)}`)
        const after = hands.openViews().find(({ id }) => id === view.id)
        answers[person] ??= []
        if (!after) return
        answers[person].push(meaningOf(wordsIn(after.view)))
        await hands.close(after)
      }),
    )
    return answers
  }

  async function closeForms(forms: OpenForm[]): Promise<void> {
    for (const { person, view } of forms) await slack.as(ids[person]).close(view)
  }

  function leftovers(): string[] {
    return names.flatMap((name) => takeWords(name).map((text) => `${name}: ${text}`))
  }

  const { arm, close } = replicas
  return {
    ...world,
    records,
    possibleChange,
    isStillPossible,
    requestChange,
    press,
    submit,
    submitAgain,
    closeForms,
    leftovers,
    arm,
    close,
  }
}

/** Whether a message is the interim one of a slow bot. The answer follows. */
function interim(text: string): boolean {
  return text.startsWith('Slower than usual')
}
