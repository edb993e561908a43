import { App, type AppOptions, type Logger, SocketModeReceiver } from '@slack/bolt'
import type { WebClientOptions } from '@slack/web-api'
import { StartError } from '../domain/errors.ts'
import { whyNotListening } from '../domain/listening.ts'
import type { Secret } from '../domain/signing.ts'
import { httpReceiver, readEveryEnvelope } from './http-receiver.ts'
import { type Screening, screen } from './payloads.ts'
import { longestCallMs, measuredFetch, type OnSlackCall } from './web-api.ts'

interface SlackSettings {
  botToken: Secret
  signingSecret: Secret | undefined
  /** If set, Lockkeeper uses Socket Mode instead of HTTP. */
  appToken: Secret | undefined
  apiUrl: URL
  /** The IP address to listen on. */
  host: string
  port: number
  trustedProxies: readonly string[]
}

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

/**
 * Creates the Bolt app for either transport, without listeners, and the function that starts it. The caller fetches `identity` once. A
 * payload that no listener could read never reaches the app (see `screen`).
 */
export function createBoltApp(
  settings: SlackSettings,
  identity: { botId: string; botUserId: string },
  logger: Logger,
  { onCall = () => {}, ...screening }: Screening & { onCall?: OnSlackCall },
) {
  const refused = Promise.withResolvers<never>()
  // Slack may refuse a connection after the start, when nothing awaits this promise. An unhandled rejection would end the process.
  refused.promise.catch(() => {})
  const clientOptions = webClientOptions(settings.apiUrl, logger, (call) => {
    onCall(call)
    if (call.method === 'apps.connections.open' && call.error !== undefined) refused.reject(socketRefusal(call.error))
  })
  const onNull = () => screening.onUnhandled({ kind: 'null', why: 'no-listener' })
  const receiver = settings.appToken
    ? socketReceiver(settings.appToken, clientOptions, logger)
    : httpReceiver({
        signingSecret: settings.signingSecret?.reveal() ?? '',
        port: settings.port,
        trustedProxies: settings.trustedProxies,
        logger,
        onNull,
      })
  const options: AppOptions = {
    receiver: screen(receiver, screening),
    authorize: async () => ({ botToken: settings.botToken.reveal(), ...identity }),
    clientOptions,
    logger,
    convoStore: false,
    deferInitialization: true,
  }
  const app = new App(options)

  /**
   * Starts to receive payloads. Returns the port in HTTP mode. In Socket Mode it waits until Slack can be reached. Throws a StartError that
   * says what to do if the port is taken or Slack refuses Socket Mode. Slack's client would often keep trying after such a refusal.
   */
  async function start(): Promise<number | undefined> {
    await app.init()
    const { host, port } = settings
    const started = app.start({ host, port }).catch((error: Error) => {
      throw whyNotListening(error, { hostVariable: 'HOST', host, portVariable: 'PORT', port })
    })
    const server: unknown = await Promise.race([started, refused.promise])
    const address = (server as { address?: () => { port?: number } | string | null } | undefined)?.address?.()
    return typeof address === 'object' && address !== null ? address.port : undefined
  }

  return { app, start }
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
  readEveryEnvelope(receiver.client)
  return receiver
}
