mod ask;
mod links;
mod queries;
mod words;
