import type { WebClient } from '@slack/web-api'
import { StartError } from '../domain/errors.ts'
import { classifySlackFailure } from './failure.ts'

export interface Identity {
  botId: string
  botUserId: string
}

/** Who the bot is, by its token (auth.test). Throws StartError with what to do when Slack does not tell. */
export async function introduce(client: WebClient, apiUrl: URL): Promise<Identity> {
  try {
    const answer = await client.auth.test()
    return { botId: String(answer.bot_id), botUserId: String(answer.user_id) }
  } catch (thrown) {
    const failure = classifySlackFailure(thrown)
    if (failure.is === 'refused') {
      throw new StartError(
        `Slack rejects SLACK_BOT_TOKEN (${failure.error}). Copy the Bot User OAuth Token of the installed app again (OAuth & Permissions).`,
      )
    }
    throw new StartError(`Slack does not answer at ${apiUrl.origin}. Check that this machine may reach it, then start again.`)
  }
}
