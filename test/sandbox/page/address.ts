/** Keeps the person and the place (a channel id, or the tab of the app) in the page's address, for reloads and second windows. */
export const address = {
  read(): { as: string | null; channel: string | null } {
    const query = new URLSearchParams(location.search)
    return { as: query.get('as'), channel: query.get('channel') }
  },

  write(as: string, channel: string) {
    history.replaceState(undefined, '', `?${new URLSearchParams({ as, channel })}`)
  },
}
