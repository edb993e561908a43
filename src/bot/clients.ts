import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import { createAccountApi } from '../account-api/client.ts'
import type { Config } from '../config/config.ts'
import { slackLogger } from '../ops/log/log.ts'
import { webClientOptions } from '../slack/receive/app.ts'
import { fetchIdentity } from '../slack/web-api/identity.ts'
import { measuredResponseFetch } from '../slack/web-api/measured-fetch.ts'
import { createMessenger } from '../slack/web-api/messenger.ts'
import { createResponder, responseOrigins } from '../slack/web-api/response-url.ts'
import type { Instruments } from './instruments.ts'
import { createSlackIdentity } from './slack-identity.ts'

/** Creates the clients of Slack and of the account API. Nothing is sent yet. */
export function createClients({ slack, infra }: Config, instruments: Instruments) {
  return {
    slack: createSlackClients(slack, instruments),
    accountApi: createMeasuredAccountApi(infra, instruments),
    /** The last characters of the API key that the bot itself uses. */
    ownLastSlice: infra.key.reveal().slice(-5),
  }
}
export type Clients = ReturnType<typeof createClients>

function createSlackClients({ botToken, apiUrl }: Config['slack'], { log, onSlackCall }: Instruments) {
  const logger = slackLogger(log) as Logger
  const client = new WebClient(botToken.reveal(), webClientOptions(apiUrl, logger, onSlackCall))
  const identity = createSlackIdentity(() => fetchIdentity(client, apiUrl))
  const messenger = createMessenger({ client, botUserId: () => identity.current()?.botUserId })
  const respond = createResponder({ allowedOrigins: responseOrigins(apiUrl), fetch: measuredResponseFetch(onSlackCall) })
  return { logger, client, identity, messenger, respond }
}

function createMeasuredAccountApi({ url, key }: Config['infra'], { log, metrics }: Instruments) {
  return createAccountApi({
    baseUrl: url,
    key,
    onCall: (call) => {
      metrics.apiCall(call.operation, call.status, call.ms)
      log.debug(call, 'account API')
    },
    onSkipped: (skipped) => log.warn(skipped, 'items of a list did not fit the schema and were left out'),
  })
}
