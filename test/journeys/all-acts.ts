import { commandNamed } from '../../src/bolt/router.ts'
import type { Request } from '../../src/domain/request.ts'
import { buttonValue } from '../../src/messages/button-ids.ts'
import { pageActionIds } from '../../src/slack/listing.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { parseWords } from '../../src/slack/typed-words.ts'
import type { Bot } from '../../src/start/bot.ts'
import type { RawRequest } from '../sandbox/slack/slack.ts'
import { people } from './world.ts'

/** Who acts, and where. `teamId` is the workspace in the payload, as Slack fills it in. */
export interface Actor {
  userId: string
  teamId: string
  channelId: string
}

/** One thing that a person can do, as Slack delivers it. `at` is the name under which `authorize` gets it. */
export interface PossibleAct {
  name: string
  at: string
  /** Some acts need a channel, others have none. */
  place: 'channel' | 'home'
  delivery(actor: Actor): RawRequest
}

const ts = '1795010400.000100'

/** Returns every registered act in every place where it can come from. New handlers are included without a change here. */
export function allActs({ commands, interactions }: Pick<Bot, 'commands' | 'interactions'>, request: Request): PossibleAct[] {
  const { clicks, shortcuts, submissions, options } = interactions
  const texts = commands.flatMap(({ words, examples }) => [words, ...examples.map((one) => `${words} ${one}`)])
  const action_ts = '1795010400.1'

  const act = (at: string, where: string, place: PossibleAct['place'], type: string, payload: (actor: Actor) => object): PossibleAct => {
    return { name: `${at} ${where}`, at, place, delivery: (actor) => interaction(actor, type, payload(actor)) }
  }
  const channel = ({ channelId }: Actor) => ({ channel: { id: channelId } })
  const click = (id: string, where: string, place: PossibleAct['place'], surroundings: (actor: Actor) => object) =>
    act(`click ${id}`, where, place, 'block_actions', (actor) => {
      const actions = [{ type: 'button', action_id: id, block_id: 'b', action_ts, value: valueFor(id) }]
      return { trigger_id: triggerOf(actor.userId), actions, ...surroundings(actor) }
    })
  const clickOnMessage = (id: string) =>
    click(id, 'on a message', 'channel', (actor) => ({
      ...channel(actor),
      container: { type: 'message', message_ts: request.cardTs, channel_id: actor.channelId },
    }))
  const shortcutOnMessage = (id: string) =>
    act(`shortcut ${id}`, 'on a message', 'channel', 'message_action', (actor) => {
      const message = { type: 'message', ts, text: '203.0.113.10 does not answer' }
      return { callback_id: id, trigger_id: triggerOf(actor.userId), action_ts, ...channel(actor), message_ts: ts, message }
    })
  const picker = (id: string, where: string, surroundings: (actor: Actor) => object) =>
    act(`options ${id}`, where, 'channel', 'block_suggestion', (actor) => ({
      action_id: id,
      block_id: 'b',
      value: 'web',
      ...surroundings(actor),
    }))

  return [
    ...['', 'help', 'no such command', ...texts].map((text): PossibleAct => {
      const fields = ({ userId, teamId, channelId }: Actor) => ({ user_id: userId, team_id: teamId, channel_id: channelId })
      return {
        name: `the command "${text}"`,
        at: `command ${commandNamed(commands, parseWords(text)).name}`,
        place: 'channel',
        delivery: (actor) => form({ command: '/infra', text, ...fields(actor), trigger_id: triggerOf(actor.userId) }),
      }
    }),
    ...Object.keys(clicks).flatMap((id) => [
      clickOnMessage(id),
      click(id, 'in a modal', 'channel', (actor) => ({ container: { type: 'view', view_id: 'V1' }, view: modalFor(actor, '') })),
      click(id, 'on the Home tab', 'home', () => ({ container: { type: 'view', view_id: 'V2' }, view: { id: 'V2', type: 'home' } })),
    ]),
    clickOnMessage('of-another-version'),
    ...Object.keys(shortcuts).flatMap((id) => [
      shortcutOnMessage(id),
      act(`shortcut ${id}`, 'anywhere', 'home', 'shortcut', ({ userId }) => ({
        callback_id: id,
        trigger_id: triggerOf(userId),
        action_ts,
      })),
    ]),
    shortcutOnMessage('of-another-version'),
    ...Object.keys(submissions).map((id) =>
      act(`submission ${id}`, '', 'channel', 'view_submission', (actor) => ({ view: modalFor(actor, id) })),
    ),
    ...Object.keys(options).flatMap((id) => [
      picker(id, 'in a modal', (actor) => ({ view: modalFor(actor, '') })),
      picker(id, 'in a message', channel),
    ]),
    homeOpened,
  ]

  /** A modal that another person opened. The rights that count are those of the person who submits it. */
  function modalFor({ channelId }: Actor, callbackId: string) {
    const origin = { teamId: 'T0NIMBUS01', channelId, userId: people.ada, command: '/infra' }
    const metadata = writeMetadata({ origin, button: buttonValue(request) })
    const values = { reason: { reason: { type: 'plain_text_input', value: 'web-1 is being replaced' } } }
    return { id: 'V1', type: 'modal', hash: '1', callback_id: callbackId, private_metadata: metadata, state: { values } }
  }

  function valueFor(id: string): string {
    const isPage = Object.values<string>(pageActionIds).includes(id)
    return isPage ? JSON.stringify({ version: 1, command: 'ip list', args: [], page: 0 }) : buttonValue(request)
  }
}

const homeOpened: PossibleAct = {
  name: 'opening the Home tab',
  at: 'home',
  place: 'home',
  delivery: ({ userId, teamId }) => {
    const event = { type: 'app_home_opened', user: userId, channel: `D${userId.slice(1)}`, tab: 'home', event_ts: '1795010400.1' }
    const ids = { team_id: teamId, api_app_id: 'A0LOCKKEEP', event_id: `Ev${userId}` }
    const body = JSON.stringify({ type: 'event_callback', ...ids, event_time: 1_795_010_400, event })
    return { contentType: 'application/json', body }
  },
}

/** Returns a trigger id for each person, so that a test can see whose modal a call would have opened. */
export function triggerOf(userId: string): string {
  return `trigger-of-${userId}`
}

function interaction({ userId, teamId }: Actor, type: string, more: object): RawRequest {
  const payload = { type, user: { id: userId, team_id: teamId }, team: { id: 'T0NIMBUS01' }, api_app_id: 'A0LOCKKEEP', ...more }
  return form({ payload: JSON.stringify(payload) })
}

function form(fields: Record<string, string>): RawRequest {
  return { body: new URLSearchParams(fields).toString() }
}
