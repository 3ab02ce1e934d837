-- Times of the server, which are RFC 3339 in UTC, as local times.

local M = {}

---@param time string
---@return integer? seconds since 1970
function M.seconds(time)
  local year, month, day, hour, minute, second = time:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)')
  if not year then
    return nil
  end
  local as_local =
    os.time({ year = year, month = month, day = day, hour = hour, min = minute, sec = second, isdst = false })
  local now = os.time()
  local ahead = os.difftime(os.time(os.date('*t', now)), os.time(os.date('!*t', now)))
  return math.floor(as_local + ahead)
end

---@param time string
---@return string 14:32; with the date if it is not today
function M.clock(time)
  local seconds = M.seconds(time)
  if not seconds then
    return '…'
  end
  local is_today = os.date('%F', seconds) == os.date('%F')
  return os.date(is_today and '%H:%M' or '%F %H:%M', seconds) --[[@as string]]
end

---@param time string
---@return string the time from now until `time`: 14:32, 1:14:32
function M.left(time)
  local at = M.seconds(time)
  if not at then
    return '…'
  end
  local seconds = math.max(0, at - os.time())
  local hours, minutes = math.floor(seconds / 3600), math.floor(seconds / 60) % 60
  if hours > 0 then
    return ('%d:%02d:%02d'):format(hours, minutes, seconds % 60)
  end
  return ('%d:%02d'):format(minutes, seconds % 60)
end

return M
