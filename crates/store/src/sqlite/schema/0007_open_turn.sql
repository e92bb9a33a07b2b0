-- How a chat stands is told with each append.
ALTER TABLE chat DROP COLUMN standing;
