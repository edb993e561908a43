const gap = 4
const wanted = 280

/**
 * Places every open list below its anchor (`data-popup-for`), or above if there is more room. It is as wide as its anchor, or as its content
 * (`data-popup-fit`). It is fixed to the window, so that no scrolling box or dialog cuts it off.
 */
export function placePopups() {
  for (const popup of document.querySelectorAll<HTMLElement>('[data-popup-for]')) {
    const anchor = document.getElementById(popup.dataset.popupFor ?? '')?.getBoundingClientRect()
    if (!anchor) continue
    const below = window.innerHeight - anchor.bottom - gap * 2
    const above = anchor.top - gap * 2
    const upwards = below < Math.min(wanted, popup.scrollHeight) && above > below

    const fitsContent = popup.dataset.popupFit === 'content'
    popup.style.width = fitsContent ? '' : `${anchor.width}px`
    popup.style.maxHeight = `${Math.min(wanted, upwards ? above : below)}px`
    popup.style.left = `${fitsContent ? Math.max(gap, Math.min(anchor.left, window.innerWidth - popup.offsetWidth - gap)) : anchor.left}px`
    popup.style.top = upwards ? '' : `${anchor.bottom + gap}px`
    popup.style.bottom = upwards ? `${window.innerHeight - anchor.top + gap}px` : ''
  }
}
