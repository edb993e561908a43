import { expect, test } from 'vitest'
import { cardButtons } from '../../src/messages/words.ts'
import type { Message, Person } from '../sandbox/page/api.ts'
import { type NextStep, nextStep } from '../sandbox/page/next-step.ts'
import { requestsIn, stageButtons, waitingFor, waitingWords } from '../sandbox/page/requests.ts'
import { nimbusWorks } from '../sandbox/slack/workspace.ts'

const people = nimbusWorks.people.filter(({ isStranger }) => !isStranger) as Person[]
const [ada, ben, chiara, dov] = people as [Person, Person, Person, Person]

let last = 0

/** A message of Lockkeeper with these buttons. */
function message(buttons: string[], more: Partial<Message> = {}): Message {
  last += 1
  const elements = buttons.map((action_id) => ({ type: 'button', action_id }))
  const blocks = elements.length > 0 ? [{ type: 'actions', elements }] : []
  const bot = { user: 'U0LOCKKEEP', userName: 'Lockkeeper', isBot: true, ephemeral: false }
  return { channel: 'C0OPS00001', ts: `${last}.000000`, text: `<@${ada.id}> needs approval`, blocks, ...bot, ...more }
}

const card = (buttons: string[], more: Partial<Message> = {}) =>
  message(buttons, { metadata: { event_payload: { key: `${last}/card` } }, ...more })
const finished = () => card([cardButtons.reverse, stageButtons.details])
const reply = (to: Message, name = 'ended') => message([], { threadTs: to.ts, metadata: { event_payload: { key: `${last}/${name}` } } })
const step = (me: Person, ...messages: Message[]): NextStep['is'] => nextStep(me, people, requestsIn(messages)).is

test('the page knows the buttons by the names that Lockkeeper gives them', () => {
  const { approve, handOver, details } = cardButtons
  expect(stageButtons).toEqual({ approve, handOver, details })
})

test('a request waits for the approvers, but not for its requester', () => {
  const requests = requestsIn([card([stageButtons.approve, cardButtons.withdraw], { text: `<@${ben.id}> needs approval` })])

  const counts = people.map((person) => waitingFor(requests, person).length)

  expect(counts).toEqual([0, 0, 1, 0])
})

test('a request that needs several approvals no longer waits for the person who has approved it', () => {
  const text = `Move 203.0.113.10\n<@${ada.id}> needs approval from 2 of <!subteam^S0ONCALL01>\n1 of 2 approvals: <@${ben.id}>`
  const waiting = card([stageButtons.approve], { text })

  expect(people.map((person) => waitingFor(requestsIn([waiting]), person).length)).toEqual([0, 0, 1, 0])
  expect(step(ben, waiting)).toBe('switch-to-approver')
})

test('an approved key waits for its requester, and a finished request for nobody', () => {
  const key = card([stageButtons.handOver])
  const done = finished()

  const requests = requestsIn([key, done, reply(done)])

  expect(requests.map(({ stage }) => stage)).toEqual(['to-create', 'ended'])
  expect(people.map((person) => waitingFor(requests, person).length)).toEqual([1, 0, 0, 0])
})

test('an approver whose own request waits may switch to another one, or break the glass', () => {
  const own = card([stageButtons.approve], { text: `<@${ben.id}> needs approval` })

  expect(nextStep(ben, people, requestsIn([own]))).toMatchObject({ is: 'switch-from-own', to: chiara })
  expect([step(ben, own), step(ada, own), step(chiara, own)]).toEqual(['switch-from-own', 'switch-to-approver', 'decide'])
})

test('a request knows the message that shows its token, until a newer one is made', () => {
  const key = finished()
  const token = message([], { ephemeral: true, text: 'Your new API key ci-deploy It is in this message, only visible to you.' })
  const move = card([stageButtons.approve])

  expect(requestsIn([key, token, move]).map(({ tokenTs }) => tokenTs)).toEqual([token.ts, undefined])
})

test('what waits for a person is named: requests to decide, and keys to create', () => {
  const waiting = [card([stageButtons.approve]), card([stageButtons.approve], { text: `<@${ben.id}> needs approval` })]
  const keys = [card([stageButtons.handOver]), card([stageButtons.handOver], { text: `<@${chiara.id}> needs approval` })]

  const words = (...messages: Message[]) => people.map((person) => waitingWords(requestsIn(messages), person))

  expect(words(...waiting, ...keys)).toEqual(['1 key to create', '1 to decide', '2 to decide, 1 key to create', ''])
  expect(words(...keys, card([stageButtons.handOver]))[0]).toBe('2 keys to create')
})

test('the request of an alert waits for every approver, and nobody is its requester', () => {
  const [waiting, done] = requestsIn([
    card([stageButtons.approve], { text: 'Alertmanager needs approval from <!subteam^S0ONCALL01>' }),
    { ...finished(), text: `Done. Requested by Alertmanager, approved by <@${ben.id}>` },
  ])

  expect([waiting?.requester, done?.requester]).toEqual([undefined, undefined])
  expect(people.map((person) => waitingFor(waiting ? [waiting] : [], person).length)).toEqual([0, 1, 1, 0])
})

test('other messages of Lockkeeper and of people are no requests', () => {
  const list = message(['listing-next'], { ephemeral: true })
  const said = message([], { isBot: false, user: ada.id })
  expect(requestsIn([list, said])).toEqual([])
})

test('the next step of a move: request, switch, decide, wait, switch back, explore', () => {
  const waiting = card([stageButtons.approve])
  const running = card([cardButtons.stopTracking])

  expect(step(ada)).toBe('request')
  expect(step(ben)).toBe('ask-for-request')
  expect(step(ada, waiting)).toBe('switch-to-approver')
  expect(step(ben, waiting)).toBe('decide')
  expect(step(ben, running)).toBe('wait')
  expect(step(ben, running, reply(running, 'late'))).toBe('wait')
  const done = finished()
  expect(step(ben, done, reply(done))).toBe('switch-to-requester')
  expect(step(ada, done, reply(done))).toBe('explore')
})

test('in a channel where Lockkeeper takes no requests, the next step is to go to the one where it does', () => {
  const ops = { id: 'C0OPS00001', name: 'ops', topic: '' }
  const waiting = requestsIn([card([stageButtons.approve])])
  const done = finished()

  const inOther = (me: Person, requests = requestsIn([])) => nextStep(me, people, requests, ops)

  expect(inOther(ada)).toEqual({ is: 'go-to', channel: ops })
  expect(inOther(ada, requestsIn([done, reply(done)]))).toEqual({ is: 'go-to', channel: ops })
  expect([inOther(ben).is, inOther(ben, waiting).is, inOther(dov).is]).toEqual(['ask-for-request', 'decide', 'outside'])
})

test('a withdrawn request has no report to wait for or to read', () => {
  const withdrawn = card([cardButtons.again, stageButtons.details])
  const withReminder = [withdrawn, reply(withdrawn, 'reminder-half')]

  for (const person of [ada, ben]) {
    expect(nextStep(person, people, requestsIn(withReminder))).toMatchObject({ is: 'explore', request: { isReported: false } })
  }
})

test('a guest is sent to a button only where there is one', () => {
  const waiting = card([stageButtons.approve])
  expect(nextStep(dov, people, [])).toEqual({ is: 'outside', request: undefined })
  expect(nextStep(dov, people, requestsIn([waiting]))).toMatchObject({ is: 'outside', request: { ts: waiting.ts } })
})
