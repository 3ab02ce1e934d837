-- The part of neotest's trees that an adapter uses, as its documentation describes it.

local Tree = {}
Tree.__index = Tree

--- From nested lists: the first element of a list is the node, the others are its children.
function Tree.from_list(list, key)
  local is_list = vim.islist(list)
  local tree = setmetatable({ node = is_list and list[1] or list, children = {} }, Tree)
  assert(key(tree.node), 'a node without a key')
  for index = 2, is_list and #list or 1 do
    tree.children[index - 1] = Tree.from_list(list[index], key)
  end
  return tree
end

function Tree:data()
  return self.node
end

--- The nodes, parents before children.
function Tree:iter()
  local nodes = { self.node }
  for _, child in ipairs(self.children) do
    for _, node in child:iter() do
      table.insert(nodes, node)
    end
  end
  return ipairs(nodes)
end

function Tree:get_key(key)
  for _, child in ipairs(self.children) do
    if child.node.id == key then
      return child
    end
  end
end

return { Tree = Tree }
