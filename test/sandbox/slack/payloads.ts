import { initialState, type StateValues } from './elements.ts'
import type { Json } from './json.ts'
import type { MessageStore, StoredMessage } from './message-store.ts'
import type { Channel, Directory } from './workspace.ts'

// The deprecated verification token. Slack still sends it, and nothing may rely on it.
const token = 'not-verified-by-this'

function channelName(channel: Channel): string {
  if (channel.isDirect) return 'directmessage'
  return channel.isPrivate ? 'privategroup' : channel.name
}

/** What every interaction of a person has. */
interface Act {
  userId: string
  triggerId: string
}

interface UsedShortcut extends Act {
  callbackId: string
  actionTs: string
}

export type Place = { message: StoredMessage } | { view: Json }

/** Builds what Slack sends to a bot, member by member (docs.slack.dev/reference/interaction-payloads). */
export function createPayloads(directory: Directory, messages: MessageStore) {
  const { bot, team } = directory

  function common(userId: string): Json {
    const person = directory.person(userId)
    return {
      user: { id: person.id, username: person.handle, name: person.handle, team_id: person.teamId ?? team.id },
      api_app_id: bot.appId,
      token,
      team: { id: team.id, domain: team.domain },
      enterprise: null,
      is_enterprise_install: false,
    }
  }

  function container(place: Place): Json {
    if ('view' in place) return { type: 'view', view_id: place.view.id }
    const { message } = place
    return {
      type: 'message',
      message_ts: message.ts,
      channel_id: message.channel,
      is_ephemeral: message.visibleTo !== undefined,
      ...(message.threadTs ? { thread_ts: message.threadTs } : {}),
    }
  }

  /** Modals and Home tabs carry their view and no channel. The content of an ephemeral message is not sent. */
  function surroundings(place: Place): Json {
    if ('view' in place) return { view: place.view }
    const { message } = place
    const channel = directory.channel(message.channel)
    return {
      channel: { id: channel.id, name: channelName(channel) },
      ...(message.visibleTo === undefined ? { message: messages.toSlack(message, { metadata: true }) } : {}),
    }
  }

  function shortcutMembers({ userId, callbackId, triggerId, actionTs }: UsedShortcut): Json {
    const { api_app_id: _, ...members } = common(userId)
    return { ...members, action_ts: actionTs, callback_id: callbackId, trigger_id: triggerId }
  }

  return {
    command(command: Act & { channel: Channel; name: string; text: string; responseUrl: string }): Json {
      const person = directory.person(command.userId)
      return {
        token,
        team_id: person.teamId ?? team.id,
        team_domain: team.domain,
        channel_id: command.channel.id,
        channel_name: channelName(command.channel),
        user_id: person.id,
        user_name: person.handle,
        command: command.name,
        text: command.text,
        api_app_id: bot.appId,
        is_enterprise_install: 'false',
        response_url: command.responseUrl,
        trigger_id: command.triggerId,
      }
    },

    blockActions(click: Act & { place: Place; action: Json; responseUrl?: string; values?: StateValues }): Json {
      const { place } = click
      const state = 'message' in place ? { state: { values: { ...initialState(place.message.blocks ?? []), ...click.values } } } : {}
      return {
        type: 'block_actions',
        ...common(click.userId),
        container: container(place),
        trigger_id: click.triggerId,
        ...surroundings(place),
        ...state,
        ...(click.responseUrl ? { response_url: click.responseUrl } : {}),
        actions: [click.action],
      }
    },

    /** Has no channel and no response URL. */
    globalShortcut: (shortcut: UsedShortcut): Json => ({ type: 'shortcut', ...shortcutMembers(shortcut) }),

    /** `more` replaces members of the message, for what people of this workspace cannot post. */
    messageShortcut(shortcut: UsedShortcut & { responseUrl: string; message: StoredMessage; more: Json }): Json {
      const { message, more, responseUrl } = shortcut
      const channel = directory.channel(message.channel)
      return {
        type: 'message_action',
        ...shortcutMembers(shortcut),
        channel: { id: channel.id, name: channelName(channel) },
        message_ts: message.ts,
        message: { ...messages.toSlack(message), ...more },
        response_url: responseUrl,
      }
    },

    /** `view`: the current Home tab, if there is one. */
    appHomeOpened(opened: { userId: string; tab: 'home' | 'messages'; eventId: string; eventTs: string; view?: Json | undefined }): Json {
      const { userId, tab, eventTs, view } = opened
      const channel = directory.directChannel(userId).id
      return {
        token,
        team_id: team.id,
        api_app_id: bot.appId,
        event: { type: 'app_home_opened', user: userId, channel, tab, event_ts: eventTs, ...(view && tab === 'home' ? { view } : {}) },
        type: 'event_callback',
        event_id: opened.eventId,
        event_time: Math.floor(Number(eventTs)),
        authorizations: [{ enterprise_id: null, team_id: team.id, user_id: bot.userId, is_bot: true, is_enterprise_install: false }],
        is_ext_shared_channel: false,
      }
    },

    viewSubmission: (userId: string, view: Json, triggerId: string): Json => ({
      type: 'view_submission',
      ...common(userId),
      trigger_id: triggerId,
      view,
      response_urls: [],
    }),

    /**
     * Does not carry what was entered in the modal: Slack's own example has `state: { values: {} }`, and real values are outdated
     * (slackapi/bolt-js 1146, slackapi/java-slack-sdk 1292). A bot that relies on them fails its tests.
     */
    blockSuggestion: (userId: string, place: Place, element: { blockId: string; actionId: string }, query: string): Json => ({
      type: 'block_suggestion',
      ...common(userId),
      container: container(place),
      action_id: element.actionId,
      block_id: element.blockId,
      value: query,
      ...surroundings('view' in place ? { view: { ...place.view, state: { values: {} } } } : place),
    }),
  }
}
export type Payloads = ReturnType<typeof createPayloads>
