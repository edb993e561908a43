import { expect, test } from 'vitest'
import { cardButtons } from '../../src/requests/messages/buttons.ts'
import type { Message, Person } from '../sandbox/page/api.ts'
import { type NextStep, nextStep } from '../sandbox/page/next-step.ts'
import { decisionButtons, requestsIn, waitingFor } from '../sandbox/page/requests.ts'
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
const reply = (to: Message) => message([], { threadTs: to.ts })
const step = (me: Person, ...messages: Message[]): NextStep['is'] => nextStep(me, people, requestsIn(messages)).is

test('the page knows the buttons by the names that Lockkeeper gives them', () => {
  expect(decisionButtons).toEqual({ approve: cardButtons.approve, handOver: cardButtons.handOver })
})

test('a request waits for the approvers, but not for its requester', () => {
  const requests = requestsIn([card([decisionButtons.approve, cardButtons.withdraw], { text: `<@${ben.id}> needs approval` })])

  const counts = people.map((person) => waitingFor(requests, person).length)

  expect(counts).toEqual([0, 0, 1, 0])
})

test('an approved key waits for its requester, and a finished request for nobody', () => {
  const key = card([decisionButtons.handOver])
  const done = card([cardButtons.reverse])

  const requests = requestsIn([key, done, reply(done)])

  expect(requests.map(({ stage }) => stage)).toEqual(['to-create', 'ended'])
  expect(people.map((person) => waitingFor(requests, person).length)).toEqual([1, 0, 0, 0])
})

test('other messages of Lockkeeper and of people are no requests', () => {
  const list = message(['listing-next'], { ephemeral: true })
  const said = message([], { isBot: false, user: ada.id })
  expect(requestsIn([list, said])).toEqual([])
})

test('the next step of a move: request, switch, decide, wait, switch back, explore', () => {
  const waiting = card([decisionButtons.approve])
  const running = card([cardButtons.stopTracking])

  expect(step(ada)).toBe('request')
  expect(step(ben)).toBe('ask-for-request')
  expect(step(ada, waiting)).toBe('switch-to-approver')
  expect(step(ben, waiting)).toBe('decide')
  expect(step(ben, running)).toBe('wait')
  expect(step(ben, running, reply(running))).toBe('switch-to-requester')
  expect(step(ada, running, reply(running))).toBe('explore')
})

test('an approver who requested something is sent to another approver', () => {
  const own = card([decisionButtons.approve], { text: `<@${ben.id}> needs approval` })
  expect(nextStep(ben, people, requestsIn([own]))).toMatchObject({ is: 'switch-to-approver', to: chiara })
})

test('a guest is told to press a button only where there is one', () => {
  const waiting = card([decisionButtons.approve])
  expect(nextStep(dov, people, [])).toEqual({ is: 'outside', request: undefined })
  expect(nextStep(dov, people, requestsIn([waiting]))).toMatchObject({ is: 'outside', request: { ts: waiting.ts } })
})
