/**
 * The bot scopes that each method of the Web API needs, as https://docs.slack.dev/reference/methods/ says on the page of the method. Several:
 * one for each kind of conversation, and Lockkeeper works in public and in private channels.
 */
export const scopesOf: Record<string, readonly string[]> = {
  'auth.test': [],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': ['channels:history', 'groups:history'],
  'conversations.info': ['channels:read', 'groups:read'],
  'conversations.members': ['channels:read', 'groups:read'],
  'conversations.replies': ['channels:history', 'groups:history'],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  'users.info': ['users:read'],
  'views.open': [],
  'views.publish': [],
  'views.update': [],
}
