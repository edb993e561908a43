import type { Json } from '../json.ts'
import type { Method, Stores } from './method.ts'
import { Refusal } from './refusal.ts'

/** The methods about the app itself. `socketUrl` makes a WebSocket address that is good once. */
export function appMethods({ directory }: Stores, socketUrl: () => string): Record<string, Method> {
  const { bot, team } = directory
  return {
    'api.test': {
      token: 'none',
      run(args): Json {
        if (args.error) throw new Refusal(String(args.error), { args })
        return { args }
      },
    },

    'auth.test': {
      run: () => ({
        url: `https://${team.domain}.slack.com/`,
        team: team.name,
        user: bot.handle,
        team_id: team.id,
        user_id: bot.userId,
        bot_id: bot.botId,
        is_enterprise_install: false,
      }),
    },

    'apps.connections.open': { token: 'app', run: () => ({ url: socketUrl() }) },
  }
}
