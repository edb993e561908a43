import { App as Bolt, type Logger, SocketModeReceiver } from '@slack/bolt'
import type { WebClientOptions } from '@slack/web-api'
import type { App } from '../app.ts'
import { StartError } from '../domain/errors.ts'
import { whyNotListening } from '../domain/listening.ts'
import type { Secret } from '../domain/signing.ts'
import { guarded, readEveryEnvelope } from './guards.ts'
import { httpReceiver } from './http-receiver.ts'
import { type Identity, longestCallMs, measuredFetch, type OnSlackCall } from './web-api.ts'

/**
 * Returns the options of every Web API client: one attempt, which takes at most `longestCallMs`. The client's own retries would post a
 * message twice if an answer is lost, and one 429 would hold up all other calls.
 */
export function webClientOptions(apiUrl: URL, logger: Logger, onCall: OnSlackCall = () => {}): WebClientOptions {
  return {
    slackApiUrl: apiUrl.href.endsWith('/') ? apiUrl.href : `${apiUrl.href}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    timeout: longestCallMs,
    fetch: measuredFetch(onCall),
    logger,
  }
}

/** Creates Bolt's app for either transport, without listeners, and the function that starts it. `identity` was read from Slack before. */
export function createBolt(app: App, { botId, botUserId }: Identity) {
  const { botToken, signingSecret, appToken, apiUrl, host, port, trustedProxies } = app.config.slack
  const { logger, onCall } = app.slack
  const refused = Promise.withResolvers<never>()
  // Slack may refuse a connection after the start, when nothing awaits this promise. An unhandled rejection would end the process.
  refused.promise.catch(() => {})
  const clientOptions = webClientOptions(apiUrl, logger, (call) => {
    onCall(call)
    if (call.method === 'apps.connections.open' && call.error !== undefined) refused.reject(socketRefusal(call.error))
  })
  const receiver = appToken
    ? socketReceiver(appToken, clientOptions, logger)
    : httpReceiver({ signingSecret: signingSecret?.reveal() ?? '', trustedProxies, logger })
  const bolt = new Bolt({
    receiver: guarded(receiver, app),
    token: botToken.reveal(),
    botId,
    botUserId,
    // Otherwise Bolt reads its identity from Slack once more.
    tokenVerificationEnabled: false,
    clientOptions,
    logger,
    convoStore: false,
    deferInitialization: true,
  })

  /**
   * Starts to receive payloads. Returns the port in HTTP mode. In Socket Mode it waits until Slack can be reached. Throws a StartError that
   * says what to do if the port is taken or Slack refuses Socket Mode. Slack's client would often keep trying after such a refusal.
   */
  async function start(): Promise<number | undefined> {
    await bolt.init()
    const started = bolt.start({ host, port }).catch((error: Error) => {
      throw whyNotListening(error, { hostVariable: 'HOST', host, portVariable: 'PORT', port })
    })
    const server: unknown = await Promise.race([started, refused.promise])
    const address = (server as { address?: () => { port?: number } | string | null } | undefined)?.address?.()
    return typeof address === 'object' && address !== null ? address.port : undefined
  }

  return { bolt, start }
}

function socketRefusal(error: string): StartError {
  return new StartError(
    `Slack does not open Socket Mode (${error}). Check SLACK_APP_TOKEN, its scope connections:write, and that Socket Mode is turned on.`,
  )
}

function socketReceiver(appToken: Secret, clientOptions: WebClientOptions, logger: Logger): SocketModeReceiver {
  const receiver = new SocketModeReceiver({
    appToken: appToken.reveal(),
    logger,
    // Retry the connection for weeks. If the client gave up, Lockkeeper would keep running without receiving anything.
    installerOptions: { clientOptions: { ...clientOptions, retryConfig: { retries: 50_000, factor: 1.5, maxTimeout: 30_000 } } },
  })
  readEveryEnvelope(receiver)
  return receiver
}
