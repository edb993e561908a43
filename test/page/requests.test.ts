import { expect, test } from 'vitest'
import { cardButtons } from '../../src/messages/button-ids.ts'
import { type NextStep, nextStep, requestsIn, stageButtons, waitingFor, waitingWords } from '../sandbox/page/requests.ts'
import type { Message, Person } from '../sandbox/page/shapes.ts'
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

const doneText = `:large_green_circle: *Done*  ·  Move 203.0.113.10: web-1 → web-2\n<@${ada.id}>`

const card = (buttons: string[], text = `<@${ada.id}> needs approval`) =>
  message(buttons, { text, metadata: { event_payload: { key: `${last}/card` } } })
const reply = (to: Message, name = 'ended') => message([], { threadTs: to.ts, metadata: { event_payload: { key: `${last}/${name}` } } })
const steps = (...messages: Message[]): NextStep['is'][] =>
  [ada, ben, dov].map((person) => nextStep(person, people, requestsIn(messages)).is)
const counts = (...messages: Message[]) => people.map((person) => waitingFor(requestsIn(messages), person).length)

test('the page knows the buttons by the names that Lockkeeper gives them', () => {
  const { approve, handOver } = cardButtons
  expect(stageButtons).toEqual({ approve, handOver })
})

test('a request waits for the approvers, but neither for its requester nor for those who have approved it', () => {
  const { approve } = stageButtons
  const counted = `Move\n<@${ada.id}> needs approval from 2 of <!subteam^S0ONCALL01>\n1 of 2 approvals: <@${ben.id}>`

  expect(counts(card([approve], `<@${ben.id}> needs approval`))).toEqual([0, 0, 1, 0])
  expect(counts(card([approve], counted))).toEqual([0, 0, 1, 0])
  expect(counts(card([approve], 'Alertmanager needs approval from <!subteam^S0ONCALL01>'))).toEqual([0, 1, 1, 0])
})

test('what waits for a person is named: requests to decide, and keys to create', () => {
  const { approve, handOver } = stageButtons
  const words = (...messages: Message[]) => people.map((person) => waitingWords(requestsIn(messages), person))
  const all = [card([approve]), card([approve], `<@${ben.id}> needs approval`), card([handOver]), card([cardButtons.details], doneText)]

  expect(words(...all)).toEqual(['1 key to create', '1 to decide', '2 to decide', ''])
  expect(words(card([handOver]), card([handOver]))[0]).toBe('2 keys to create')
  expect(words(message(['listing-next'], { ephemeral: true }), message([], { isBot: false, user: ada.id }))).toEqual(['', '', '', ''])
})

test('the next step of Ada, of Ben and of a guest, from the first request to its report', () => {
  const { approve, handOver } = stageButtons
  const running = card(
    [cardButtons.stopTracking, cardButtons.details],
    `Move 203.0.113.10\n:arrows_counterclockwise: *Moving* since 14:12.`,
  )
  const done = card([cardButtons.reverse, cardButtons.details], doneText)

  expect(steps()).toEqual(['request', 'ask-for-request', 'outside'])
  expect(steps(card([approve]))).toEqual(['switch-to-approver', 'decide', 'outside'])
  expect(steps(card([approve], `<@${ben.id}> needs approval`))).toEqual(['switch-to-approver', 'switch-to-approver', 'outside'])
  expect(steps(card([handOver]))).toEqual(['create-key', 'switch-to-requester', 'outside'])
  expect(steps(running, reply(running, 'late'))).toEqual(['wait', 'wait', 'outside'])
  expect(steps(done, reply(done))).toEqual(['explore', 'switch-to-requester', 'outside'])
  // A withdrawn request has no report to wait for.
  expect(steps(done, reply(done, 'reminder-half'))).toEqual(['explore', 'explore', 'outside'])
  expect(nextStep(ben, people, requestsIn([card([approve], `<@${ben.id}> needs approval`)]))).toMatchObject({ to: chiara })
})
