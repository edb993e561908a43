import type { Request } from '../../src/domain/request.ts'
import { buttonValue } from '../../src/messages/words.ts'
import { pageActionIds } from '../../src/slack/listing.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { commandNamed } from '../../src/slack/router.ts'
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

/** Returns every registered act in every place where it can come from. New handlers are included without a change here. */
export function allActs({ commands, interactions }: Pick<Bot, 'commands' | 'interactions'>, request: Request): PossibleAct[] {
  const { clicks, shortcuts, submissions, options } = interactions
  return [
    ...[
      '',
      'help',
      'no such command',
      ...commands.flatMap(({ words, examples }) => [words, ...examples.map((one) => `${words} ${one}`)]),
    ].map(command),
    ...Object.keys(clicks).flatMap((id) => [clickOnMessage(id), clickInModal(id), clickOnHome(id)]),
    clickOnMessage('of-another-version'),
    ...Object.keys(shortcuts).flatMap((id) => [shortcutOnMessage(id), globalShortcut(id)]),
    shortcutOnMessage('of-another-version'),
    ...Object.keys(submissions).map(submission),
    ...Object.keys(options).flatMap((id) => [optionsInModal(id), optionsInMessage(id)]),
    homeOpened,
  ]

  function command(text: string): PossibleAct {
    return {
      name: `the command "${text}"`,
      at: `command ${commandNamed(commands, parseWords(text)).name}`,
      place: 'channel',
      delivery: ({ userId, teamId, channelId }) =>
        form({ command: '/infra', text, user_id: userId, team_id: teamId, channel_id: channelId, trigger_id: triggerOf(userId) }),
    }
  }

  function click(id: string, place: PossibleAct['place'], where: string, surroundings: (actor: Actor) => object): PossibleAct {
    return {
      name: `a click on ${id} ${where}`,
      at: `click ${id}`,
      place,
      delivery: (actor) =>
        interaction(actor, 'block_actions', {
          trigger_id: triggerOf(actor.userId),
          actions: [{ type: 'button', action_id: id, block_id: 'b', action_ts: '1795010400.1', value: valueFor(id) }],
          ...surroundings(actor),
        }),
    }
  }

  function clickOnMessage(id: string): PossibleAct {
    return click(id, 'channel', 'on a message', ({ channelId }) => ({
      channel: { id: channelId },
      container: { type: 'message', message_ts: request.cardTs, channel_id: channelId },
    }))
  }

  function clickInModal(id: string): PossibleAct {
    return click(id, 'channel', 'in a modal', (actor) => ({ container: { type: 'view', view_id: 'V1' }, view: modalFor(actor, '') }))
  }

  function clickOnHome(id: string): PossibleAct {
    return click(id, 'home', 'on the Home tab', () => ({ container: { type: 'view', view_id: 'V2' }, view: { id: 'V2', type: 'home' } }))
  }

  function shortcut(id: string, place: PossibleAct['place'], type: string, more: (actor: Actor) => object): PossibleAct {
    return {
      name: `the shortcut ${id} (${type})`,
      at: `shortcut ${id}`,
      place,
      delivery: (actor) =>
        interaction(actor, type, { callback_id: id, trigger_id: triggerOf(actor.userId), action_ts: '1795010400.1', ...more(actor) }),
    }
  }

  function shortcutOnMessage(id: string): PossibleAct {
    return shortcut(id, 'channel', 'message_action', ({ channelId }) => ({
      channel: { id: channelId },
      message_ts: '1795010400.000100',
      message: { type: 'message', ts: '1795010400.000100', text: '203.0.113.10 does not answer' },
    }))
  }

  function globalShortcut(id: string): PossibleAct {
    return shortcut(id, 'home', 'shortcut', () => ({}))
  }

  function submission(id: string): PossibleAct {
    return {
      name: `the form ${id}`,
      at: `submission ${id}`,
      place: 'channel',
      delivery: (actor) => interaction(actor, 'view_submission', { view: modalFor(actor, id) }),
    }
  }

  function optionsInModal(id: string): PossibleAct {
    return options_(id, 'in a modal', (actor) => ({ view: modalFor(actor, '') }))
  }

  function optionsInMessage(id: string): PossibleAct {
    return options_(id, 'in a message', ({ channelId }) => ({ channel: { id: channelId } }))
  }

  function options_(id: string, where: string, surroundings: (actor: Actor) => object): PossibleAct {
    return {
      name: `the options of ${id} ${where}`,
      at: `options ${id}`,
      place: 'channel',
      delivery: (actor) => interaction(actor, 'block_suggestion', { action_id: id, block_id: 'b', value: 'web', ...surroundings(actor) }),
    }
  }

  /** A modal that another person opened. The rights that count are those of the person who submits it. */
  function modalFor({ channelId }: Actor, callbackId: string) {
    const origin = { teamId: 'T0NIMBUS01', channelId, userId: people.ada, command: '/infra' }
    const metadata = writeMetadata({ origin, extra: buttonValue(request) })
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
  delivery: ({ userId, teamId }) => ({
    contentType: 'application/json',
    body: JSON.stringify({
      type: 'event_callback',
      team_id: teamId,
      api_app_id: 'A0LOCKKEEP',
      event_id: `Ev${userId}`,
      event_time: 1_795_010_400,
      event: { type: 'app_home_opened', user: userId, channel: `D${userId.slice(1)}`, tab: 'home', event_ts: '1795010400.1' },
    }),
  }),
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
