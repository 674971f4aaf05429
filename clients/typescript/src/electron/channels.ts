/** What main and preload agree upon. */
export const CALL = "proctor:call";
export const CANCEL = "proctor:cancel";
export const PROGRESS = "proctor:progress";
export const INCUMBENT = "proctor:incumbent";
