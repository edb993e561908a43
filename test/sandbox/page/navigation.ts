import { address, isSamePlace, type Place } from './address.ts'
import type { Workspace } from './api.ts'
import type { AppTab, Desk } from './desk.ts'

export interface NavigationOptions {
  workspace: Workspace
  desk: Desk
  /** Called after every move to another place. */
  moved(): void
  update(): void
}

const tabs: readonly string[] = ['home', 'messages'] satisfies AppTab[]

export function isTab(channel: string | null): channel is AppTab {
  return channel !== null && tabs.includes(channel)
}

/** Moves between people, channels, the app and threads. Every move is an entry in the browser's history. */
export function createNavigation({ workspace, desk, moved, update }: NavigationOptions) {
  let threadTs: string | undefined
  let hadForm = false

  const here = (): Place => ({ as: desk.me().id, channel: desk.tab() ?? desk.channel().id, thread: threadTs ?? null })

  function enter(change: () => unknown) {
    change()
    address.go(here())
    moved()
  }

  function go(id: string) {
    if (isTab(id)) desk.goToApp(id)
    else desk.goTo(id)
  }

  function focusThread() {
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.thread-list')?.focus())
  }

  /** Shows a place of the history, without a new entry. */
  async function show(place: Place) {
    const { as, channel, thread } = place
    if (isSamePlace(place, here())) return
    if (as !== desk.me().id && workspace.people.some(({ id }) => id === as)) await desk.actAs(as ?? '')
    threadTs = thread ?? undefined
    go(channel ?? '')
    moved()
  }

  address.start(here())

  return {
    thread: () => threadTs,

    goTo(id: string) {
      enter(() => {
        threadTs = undefined
        go(id)
      })
    },

    actAs: (id: string) => enter(() => desk.actAs(id)),

    openThread(ts: string) {
      threadTs = ts
      address.go(here())
      update()
      focusThread()
    },

    /** Closes the thread. The focus goes to its bar if it was in the thread, so that a half-typed message keeps it otherwise. */
    closeThread() {
      const bar = document.querySelector<HTMLElement>(`.messages [data-ts="${threadTs}"] .thread-bar`)
      const wasInside = document.activeElement?.closest('.thread') || document.activeElement === document.body
      threadTs = undefined
      address.go(here())
      update()
      if (wasInside) bar?.focus()
    },

    /** Called after every render: while a form is open, Back closes it. */
    settleForm(isOpen: boolean) {
      if (isOpen && !hadForm) address.enterForm()
      if (!isOpen && hadForm) address.leaveForm()
      hadForm = isOpen
    },

    /** `closeForm`: closes the form on top, and returns whether there was one. */
    follow(closeForm: () => boolean) {
      address.follow((place) => {
        if (!closeForm()) return void show(place)
        // The next render adds an entry for a form that is still open below.
        hadForm = false
      })
    },

    /** Shows the thread of the address, for a reload. */
    restore(thread: string | null) {
      threadTs = thread ?? undefined
      address.start(here())
    },
  }
}

export type Navigation = ReturnType<typeof createNavigation>
