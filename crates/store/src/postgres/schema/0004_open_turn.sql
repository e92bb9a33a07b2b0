-- How a chat stands is told with each append. Servers of the version before still write this column.
ALTER TABLE chat ALTER COLUMN standing SET DEFAULT '{}';
