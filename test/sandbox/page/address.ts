/** Who acts and where (a channel's id, or the tab of the app), kept in the page's address, so that a reload and a second window keep it. */
export const address = {
  read(): { as: string | null; channel: string | null } {
    const query = new URLSearchParams(location.search)
    return { as: query.get('as'), channel: query.get('channel') }
  },

  write(as: string, channel: string) {
    history.replaceState(undefined, '', `?${new URLSearchParams({ as, channel })}`)
  },
}
