import type { WebClient } from '@slack/web-api'
import { StartError } from '../domain/errors.ts'
import { classifySlackFailure } from './failure.ts'

export interface Identity {
  botId: string
  botUserId: string
  /** The workspace that it is installed in; undefined where it is installed for a whole organisation. */
  teamId: string | undefined
  /** `https://nimbus.slack.com/`: where links to messages begin. */
  workspaceUrl: string | undefined
}

/** Who the bot is, by its token (auth.test). Throws StartError with what to do when Slack does not tell. */
export async function introduce(client: WebClient, apiUrl: URL): Promise<Identity> {
  try {
    const answer = await client.auth.test()
    return {
      botId: String(answer.bot_id),
      botUserId: String(answer.user_id),
      teamId: answer.is_enterprise_install ? undefined : answer.team_id,
      workspaceUrl: answer.url,
    }
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
