import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import type { AccountBudget } from '../../account-api/budget.ts'
import { createAccountApi } from '../../account-api/client.ts'
import type { ElasticIpReads } from '../../account-api/resources/elastic-ips.ts'
import type { Config } from '../../config/config.ts'
import type { OwnLastSlices } from '../../domain/account/api-key.ts'
import { currentRequest } from '../../domain/account/lane.ts'
import { slackLogger } from '../../ops/log/slack-logger.ts'
import { webClientOptions } from '../../slack/receive/app.ts'
import { createNaming } from '../../slack/text/naming.ts'
import { fetchIdentity } from '../../slack/web-api/identity.ts'
import { measuredFetch, measuredResponseFetch } from '../../slack/web-api/measured-fetch.ts'
import { createMessenger } from '../../slack/web-api/messenger.ts'
import { namingMessenger, namingRespond } from '../../slack/web-api/naming-messenger.ts'
import { createResponder, responseOrigins } from '../../slack/web-api/response-url.ts'
import { createSetupProbe } from '../../slack/web-api/setup-probe.ts'
import { createSlackIdentity } from './slack-identity.ts'
import type { Telemetry } from './telemetry.ts'

interface AccountParts {
  elasticIpReads: ElasticIpReads
  budget: AccountBudget
  /** Is called with the operation of each write that was sent, whatever became of it. */
  onWrite: (operation: string) => void
}

/** Creates the clients of Slack and of the account API. Sends nothing yet. */
export function createApiClients({ slack, infra, opsChannel }: Config, telemetry: Telemetry, parts: AccountParts) {
  return {
    slack: createSlackClients(slack, opsChannel, telemetry),
    accountApi: createMeasuredAccountApi(infra, telemetry, parts),
    budget: parts.budget,
    ownLastSlices: lastSlicesOf(infra),
  }
}
export type ApiClients = ReturnType<typeof createApiClients>

function lastSlicesOf({ key, readKey }: Config['infra']): OwnLastSlices {
  return {
    ...(key && { INFRA_API_KEY: key.reveal().slice(-5) }),
    ...(readKey && { INFRA_READ_KEY: readKey.reveal().slice(-5) }),
  }
}

function createSlackClients(
  { botToken, apiUrl, command }: Config['slack'],
  opsChannel: string | undefined,
  { log, lines, onSlackCall }: Telemetry,
) {
  const logger = slackLogger(log, lines) as Logger
  const client = new WebClient(botToken.reveal(), webClientOptions(apiUrl, logger, onSlackCall))
  const identity = createSlackIdentity(() => fetchIdentity(client, apiUrl))
  const naming = createNaming({ opsChannel, command })
  const messenger = createMessenger({ client, botUserId: () => identity.current()?.botUserId })
  const respond = createResponder({ allowedOrigins: responseOrigins(apiUrl), fetch: measuredResponseFetch(onSlackCall) })
  return {
    logger,
    client,
    setupProbe: createSetupProbe({ client, apiUrl, fetch: measuredFetch(onSlackCall) }),
    identity,
    naming,
    messenger: namingMessenger(messenger, naming),
    respond: namingRespond(respond, naming),
  }
}

function createMeasuredAccountApi(
  { url, key, readKey }: Config['infra'],
  { log, lines, metrics }: Telemetry,
  { elasticIpReads, budget, onWrite }: AccountParts,
) {
  return createAccountApi({
    baseUrl: url,
    key,
    readKey,
    turns: budget,
    elasticIpReads,
    onCall: (call) => {
      const { operation, status, ms } = call
      if (!/\.(list|get)$/.test(operation)) onWrite(operation)
      metrics.apiCall(operation, status, ms)
      log.debug({ ...call, requestId: currentRequest() }, 'Called the account API')
    },
    onSkipped: ({ operation, count }) =>
      lines.write({
        fields: { code: 'list-items-left-out', operation, left: count },
        text: "Left out items of a list that don't have the documented form",
        about: operation,
      }),
  })
}
