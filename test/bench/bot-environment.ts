export const signingSecret = 'bench-bench-bench'

/** Returns the environment of a bot with a stand-in for Slack and the account API, and its own Redis. */
export function botEnvironment({ outsideUrl, redisUrl, prefix }: { outsideUrl: string; redisUrl: string; prefix: string }) {
  return {
    SLACK_BOT_TOKEN: 'xoxb-bench',
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_API_URL: `${outsideUrl}/api/`,
    INFRA_API_URL: outsideUrl,
    INFRA_API_KEY: 'bench-key-of-nobody',
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    APPROVERS: 'U0BEN00001',
    PORT: '0',
    OPS_PORT: '0',
  }
}
