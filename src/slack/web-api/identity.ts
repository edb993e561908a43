import type { WebClient } from '@slack/web-api'
import { AwayError, StartError } from '../../domain/errors/errors.ts'
import { classifySlackFailure, type SlackFailure } from './failure.ts'

export interface Identity {
  botId: string
  botUserId: string
  /** The workspace of the installation. Undefined if the app is installed for a whole organisation. */
  teamId: string | undefined
  /** The beginning of links to messages: `https://nimbus.slack.com/`. */
  workspaceUrl: string | undefined
}

/** Fetches the bot's own ids (`auth.test`). Throws a StartError if Slack rejects the token, and an AwayError if it cannot answer now. */
export async function fetchIdentity(client: WebClient, apiUrl: URL): Promise<Identity> {
  try {
    const answer = await client.auth.test()
    return {
      botId: String(answer.bot_id),
      botUserId: String(answer.user_id),
      teamId: answer.is_enterprise_install ? undefined : answer.team_id,
      workspaceUrl: answer.url,
    }
  } catch (thrown) {
    throw errorFor(classifySlackFailure(thrown), apiUrl)
  }
}

function errorFor(failure: SlackFailure, { origin }: URL): Error {
  switch (failure.is) {
    case 'refused':
      return new StartError(
        `Slack rejects SLACK_BOT_TOKEN (${failure.error}). Copy the Bot User OAuth Token of the installed app again (OAuth & Permissions).`,
      )
    case 'rate-limited':
      return new AwayError(`Slack limits requests at ${origin}.`, failure)
    case 'unknown':
      return new AwayError(`Slack does not answer at ${origin} (${failure.problem}). Check that this machine may reach it.`)
  }
}
