import type { Method, Stores } from './method.ts'

/** The methods about the app itself. `socketUrl` makes a WebSocket URL that works once. */
export function appMethods({ directory }: Stores, socketUrl: () => string): Record<string, Method> {
  const { bot, team } = directory
  return {
    'api.test': { token: 'none', args: [], run: () => ({}) },

    'auth.test': {
      args: [],
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

    'apps.connections.open': { token: 'app', args: [], run: () => ({ url: socketUrl() }) },
  }
}
